use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use article_webhook::Difference;
use article_webhook_client::{ArticleResult, Client, Complete, JobId, JobStatus, Unfinished};
use clap::Args;
use serde_json::json;

use crate::{
    calls::ServiceArguments,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    text::escape,
    text::moment,
};

#[derive(Debug, Args)]
pub(crate) struct GetArguments {
    /// The job, as `order` printed it
    #[arg(value_name = "JOB")]
    job: JobId,
    /// Wait until the article is complete
    #[arg(long)]
    wait: bool,
    /// How long --wait waits
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = moment::age)]
    timeout: Duration,
    /// Print only the article's HTML, which is not sanitised
    #[arg(long, conflicts_with = "json")]
    html: bool,
    /// Write the service's result, or with --html the HTML, to this file, which must not exist
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArguments,
}

pub(crate) async fn run(arguments: GetArguments, context: &Context) -> Result<Exit, Failure> {
    let client = arguments.service.client(&context.environment)?;
    let output = &context.output;
    let job = match arguments.wait {
        true => wait(&client, &arguments, output).await,
        false => client.article(&arguments.job).await,
    };
    let complete = match job.map_err(|error| Failure::of_service(&error))? {
        JobStatus::Complete(complete) => complete,
        JobStatus::Unfinished(unfinished) => return not_complete(&arguments, &unfinished, output),
    };
    let Complete { result, body, .. } = &*complete;
    let html = result.article.html.as_untrusted_str();
    if let Some(path) = &arguments.output {
        write(path, if arguments.html { html.as_bytes() } else { body })?;
    } else if arguments.html {
        output.document(html.as_bytes())?;
        note_repairs(body, output);
        return Ok(Exit::Done);
    }
    match output.is_json() {
        true => output.service_json(body)?,
        false => show(result, html, output)?,
    }
    note_repairs(body, output);
    if let Some(path) = &arguments.output {
        output.note(&format!("\nwritten to {}", path.display()));
    }
    Ok(Exit::Done)
}

/// What was read differs from what came.
fn note_repairs(body: &[u8], output: &Output) {
    let drift = ArticleResult::from_json_with_drift(body).map_or(Vec::new(), |(_, drift)| drift);
    let repairs: Vec<_> = drift
        .iter()
        .filter(|drift| matches!(drift.difference, Difference::Repaired(_)))
        .map(|drift| escape::line(&drift.to_string()))
        .collect();
    if !repairs.is_empty() {
        let repairs = repairs.join("\n  ");
        output.note(&format!(
            "\nthe response is not valid JSON, and --output alone writes it unchanged:\n  {repairs}"
        ));
    }
}

async fn wait(
    client: &Client,
    arguments: &GetArguments,
    output: &Output,
) -> Result<JobStatus, article_webhook_client::Error> {
    let start = Instant::now();
    let waiting = client.wait(&arguments.job).deadline(arguments.timeout);
    let waiting = waiting.on_progress(|unfinished| {
        let status = escape::line(unfinished.status.as_deref().unwrap_or("not complete"));
        output.progress(&format!("{status}, for {}", moment::span(start.elapsed())));
    });
    let complete = waiting.await;
    output.progress("");
    complete.map(|complete| JobStatus::Complete(Box::new(complete)))
}

fn not_complete(
    arguments: &GetArguments,
    unfinished: &Unfinished,
    output: &Output,
) -> Result<Exit, Failure> {
    let status = unfinished.status.as_deref();
    if arguments.html || arguments.output.is_some() {
        let status = status.map(|status| format!(", its status is {status:?}")).unwrap_or_default();
        return Err(Failure::failed(format!("the job is not complete{status}")).fix("add --wait"));
    }
    let job = escape::line(arguments.job.as_str());
    let shown = escape::line(status.unwrap_or("not complete"));
    let value = json!({ "job_id": arguments.job.as_str(), "status": status });
    output.done("job_status", &value, &format!("{job}  {}", output.paint(Tone::Busy, &shown)))
}

fn show(result: &ArticleResult, html: &str, output: &Output) -> Result<(), Failure> {
    let article = &result.article;
    output.line(&output.paint(Tone::Head, &escape::line(&article.title)))?;
    let mut table = Table::plain();
    for (name, value) in [
        ("job", Some(result.job_id.as_str().to_owned())),
        ("words", article.word_count.as_ref().map(ToString::to_string)),
        ("html", Some(format!("{} bytes, printed by --html", html.len()))),
        ("description", article.meta_description.clone()),
        ("image", result.featured_image.as_ref().and_then(|image| image.url.clone())),
        ("credits", result.credits_used.as_ref().map(ToString::to_string)),
    ] {
        if let Some(value) = value {
            table.fact(name, escape::line(&value));
        }
    }
    table.write(output)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // For this user alone: it is what was paid for.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    written().map_err(|error| {
        Failure::failed(format!("{} cannot be written", path.display()))
            .because(&error)
            .fix("name a file that does not exist, in a folder that you may write to")
    })
}
