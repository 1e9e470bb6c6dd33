mod request;

use std::{path::PathBuf, time::Instant};

use article_webhook::{JobId, fixture::Defect};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::json;

use crate::{
    calls::{Deliverer, NOT_REACHED, PATIENCE, RemoteArguments, WebUrl, beginning, meaning},
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Table, Tone},
    settings::token,
    store::InboxArgument,
    text::escape,
};

/// How many bytes of the answer are shown.
const SHOWN: usize = 2000;

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// The receiver
    #[arg(value_name = "URL")]
    url: WebUrl,
    /// Send this file as the body, as it is
    #[arg(long, value_name = "PATH", group = "what")]
    file: Option<PathBuf>,
    /// Send a sample of the service
    #[arg(long, value_enum, group = "what", default_value = "complete")]
    fixture: Fixture,
    /// Send what an entry of this inbox received; --job names it
    #[arg(long, value_name = "INBOX", group = "what", requires = "job")]
    inbox: Option<InboxArgument>,
    /// The job id [default: of the file's body; a new one for a sample]
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
    /// Send it badly, as a receiver must refuse it; may be repeated
    #[arg(long, value_name = "FAULT", value_parser = defects())]
    fault: Vec<Defect>,
    /// A file with the token that the receiver accepts [default: the token in ARTICLE_WEBHOOK_TOKEN]
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    remote: RemoteArguments,
}

/// A sample of the service. Their names say what they are in the help.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Fixture {
    Complete,
    Minimal,
    Unicode,
    ExtraFields,
    Large,
}

pub(crate) async fn run(arguments: SendArguments, context: &Context) -> Result<Exit, Failure> {
    arguments.remote.allow(arguments.url.as_url())?;
    let token = token::usable(arguments.token_file.as_deref(), &context.environment)?;
    let request =
        request::pack(&arguments, &context.environment).await?.token(token.expose_secret());
    let request = arguments.fault.iter().fold(request, |request, fault| request.defect(*fault));
    let job =
        String::from_utf8_lossy(request.value("X-Service-Job-Id").unwrap_or_default()).into_owned();

    let start = Instant::now();
    let answer = Deliverer::new(PATIENCE)?.deliver(arguments.url.as_url(), &request).await;
    let answer = answer.map_err(|error| {
        Failure::failed(format!("the receiver did not answer: {}", error.why())).fix(NOT_REACHED)
    })?;
    let took = start.elapsed().as_millis();
    let status = answer.status();
    let body = String::from_utf8_lossy(&beginning(answer, SHOWN).await).into_owned();
    let meaning = meaning(status);
    let exit = if status.is_success() { Exit::Done } else { Exit::Failed };
    if context.output.is_json() {
        context.output.json(
            "sent",
            &json!({
                "job_id": job,
                "status": status.as_u16(),
                "accepted": status.is_success(),
                "meaning": meaning,
                "body": body,
                "milliseconds": u64::try_from(took).unwrap_or(u64::MAX),
            }),
        )?;
        return Ok(exit);
    }
    let tone = if status.is_success() { Tone::Good } else { Tone::Bad };
    let reason = status.canonical_reason().unwrap_or_default();
    let mut table = Table::plain();
    let mut row =
        |name: &str, tone, text: String| table.row([(Tone::Quiet, name.to_owned()), (tone, text)]);
    row("sent", Tone::Plain, format!("{}, {} bytes", escape::line(&job), request.bytes().len()));
    row("answer", tone, format!("{} {reason}, in {took} ms", status.as_u16()).replace(" ,", ","));
    if !body.is_empty() {
        row("body", Tone::Plain, escape::line(body.trim_end()));
    }
    row("means", Tone::Plain, meaning.to_owned());
    table.write(&context.output)?;
    Ok(exit)
}

/// The defects by their names in lower case, such as `wrong-token`.
fn defects() -> impl TypedValueParser<Value = Defect> {
    let name = |defect: &Defect| {
        let mut name = String::new();
        for character in format!("{defect:?}").chars() {
            if character.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(character.to_lowercase());
        }
        name
    };
    PossibleValuesParser::new(Defect::ALL.iter().map(name)).map(move |wanted| {
        let found = Defect::ALL.into_iter().find(|defect| name(defect) == wanted);
        found.expect("a possible value is the name of a defect")
    })
}
