use std::path::PathBuf;

use article_webhook_check::{Check, CheckError};
use clap::Args;
use serde_json::json;

use crate::{
    calls::{NOT_REACHED, WebUrl, remote},
    context::Context,
    failure::{Exit, Failure},
    output::Tone,
    settings,
    text::escape,
};

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The receiver, as http://host:port/path
    #[arg(value_name = "URL")]
    url: WebUrl,
    /// A file with the token that the receiver accepts [default: the token in ARTICLE_WEBHOOK_TOKEN]
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    /// Check a receiver on another machine, although others can read the token on the way
    #[arg(long)]
    allow_remote: bool,
    /// The header with the event [default: X-Service-Event]
    #[arg(long, value_name = "NAME")]
    event_header: Option<String>,
    /// The header with the job id [default: X-Service-Job-Id]
    #[arg(long, value_name = "NAME")]
    job_id_header: Option<String>,
}

pub(crate) async fn run(arguments: CheckArguments, context: &Context) -> Result<Exit, Failure> {
    let token = settings::usable_token(arguments.token_file.as_deref(), &context.environment)?;
    let mut check = Check::builder(arguments.url.as_str(), token.expose_secret());
    if arguments.allow_remote {
        check = check.allow_remote();
    }
    if let Some(name) = &arguments.event_header {
        check = check.event_header(name);
    }
    if let Some(name) = &arguments.job_id_header {
        check = check.job_id_header(name);
    }
    let check = check.build().map_err(|error| wrong(&error))?;
    let output = &context.output;
    output.note(&check.notice());
    let report = output.during("checking", check.run()).await;
    let report = report.map_err(|error| wrong(&error))?;
    let exit = if report.is_conformant() { Exit::Done } else { Exit::Failed };
    if output.is_json() {
        for finding in &report.findings {
            output.json("case", finding)?;
        }
        let value = json!({ "conformant": report.is_conformant(), "stopped": report.stopped });
        output.json("verdict", &value)?;
        return Ok(exit);
    }
    output.line("")?;
    for line in report.to_string().lines() {
        let tone = if line.starts_with("  FAIL") { Tone::Bad } else { Tone::Plain };
        output.line(&output.paint(tone, &escape::line(line)))?;
    }
    Ok(exit)
}

fn wrong(error: &CheckError) -> Failure {
    match error {
        CheckError::Unreachable { .. } | CheckError::NoAddress(_) => {
            Failure::failed("the receiver cannot be reached").because(error).fix(NOT_REACHED)
        }
        CheckError::Remote => remote(),
        _ => Failure::of_setting(&error.to_string(), settings::WHOLE_TOKEN),
    }
}
