use std::{
    fs,
    path::{Path, PathBuf},
    time::{Instant, SystemTime},
};

use article_webhook::{
    ArticleResult, JobId,
    fixture::{self, Defect, DeliveryRequest},
};
use article_webhook_inbox::EntryKey;
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::json;

use super::handed::handed;
use crate::{
    calls::{ANSWER_TIMEOUT, Deliverer, NOT_REACHED, RemoteArguments, WebUrl, beginning, meaning},
    context::Context,
    failure::{Exit, Failure},
    output::{Table, Tone},
    settings::{self, Environment, input::awaited},
    store::InboxArgument,
    text::{command, escape},
};

/// How many bytes of the answer are shown.
const SHOWN: usize = 2000;

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// The receiver
    #[arg(value_name = "URL")]
    url: WebUrl,
    /// Send this file as the body, unchanged
    #[arg(long, value_name = "PATH", group = "what")]
    file: Option<PathBuf>,
    /// Send a sample article of the service
    #[arg(long, value_enum, group = "what", default_value = "complete")]
    fixture: Fixture,
    /// Send the body of an entry of this inbox; --job names it
    #[arg(long, value_name = "INBOX", group = "what", requires = "job")]
    inbox: Option<InboxArgument>,
    /// The job id [default: the one in the file's body; a new one for a sample]
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
    /// Add a fault, so that a receiver must refuse the delivery; may be repeated
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
    let token = settings::usable_token(arguments.token_file.as_deref(), &context.environment)?;
    let request = pack(&arguments, &context.environment).await?.token(token.expose_secret());
    let request = arguments.fault.iter().fold(request, |request, fault| request.defect(*fault));
    let job =
        String::from_utf8_lossy(request.value("X-Service-Job-Id").unwrap_or_default()).into_owned();

    let start = Instant::now();
    let answer = Deliverer::new(ANSWER_TIMEOUT)?.deliver(arguments.url.as_url(), &request).await;
    let answer = answer.map_err(|error| {
        Failure::failed(format!("the receiver did not answer: {}", error.why())).fix(NOT_REACHED)
    })?;
    let took = start.elapsed().as_millis();
    let status = answer.status();
    let body = String::from_utf8_lossy(&beginning(answer, SHOWN).await).into_owned();
    let meaning = meaning(status);
    let exit = if status.is_success() { Exit::Done } else { Exit::Failed };
    if context.output.is_json() {
        let value = json!({
            "job_id": job,
            "status": status.as_u16(),
            "accepted": status.is_success(),
            "meaning": meaning,
            "body": body,
            "milliseconds": u64::try_from(took).unwrap_or(u64::MAX),
        });
        context.output.json("sent", &value)?;
        return Ok(exit);
    }
    let tone = if status.is_success() { Tone::Good } else { Tone::Bad };
    let reason = status.canonical_reason().unwrap_or_default();
    let mut table = Table::plain();
    table.named(
        "sent",
        Tone::Plain,
        format!("{}, {} bytes", escape::line(&job), request.bytes().len()),
    );
    table.named(
        "answer",
        tone,
        format!("{} {reason}, in {took} ms", status.as_u16()).replace(" ,", ","),
    );
    if !body.is_empty() {
        table.named("body", Tone::Plain, escape::line(body.trim_end()));
    }
    table.named("means", Tone::Plain, meaning);
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
        let found = Defect::ALL.iter().copied().find(|defect| name(defect) == wanted);
        found.expect("a possible value is the name of a defect")
    })
}

/// About how much HTML the large sample has.
const LARGE: usize = 1 << 20;

async fn pack(
    arguments: &SendArguments,
    environment: &Environment,
) -> Result<DeliveryRequest, Failure> {
    let SendArguments { file, inbox, job, fixture, .. } = arguments;
    match (file, inbox, job) {
        (Some(file), _, job) => of_file(file, job.as_ref()),
        (None, Some(inbox), Some(job)) => of_entry(inbox, job, environment).await,
        (None, _, job) => Ok(sample(*fixture)
            .job_id(&job.as_ref().map_or_else(new_id, |job| job.as_str().to_owned()))),
    }
}

fn sample(fixture: Fixture) -> DeliveryRequest {
    match fixture {
        Fixture::Complete => fixture::complete(),
        Fixture::Minimal => fixture::minimal(),
        Fixture::Unicode => fixture::unicode(),
        Fixture::ExtraFields => fixture::extra_fields(),
        Fixture::Large => fixture::generated(1, LARGE),
    }
}

/// An id of its own for each call, because a receiver stores each job once.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("send-{:x}", now.as_nanos())
}

fn of_file(path: &Path, job: Option<&JobId>) -> Result<DeliveryRequest, Failure> {
    let body = awaited(|| fs::read(path)).map_err(|error| {
        Failure::of_file(path, &error)
            .fix("name a file that you may read, or leave out --file for a sample")
    })?;
    let of_body = || Some(ArticleResult::from_json(&body).ok()?.job_id);
    let job = job.cloned().or_else(of_body).ok_or_else(|| {
        Failure::usage(format!("{} is not an article result with a job id", path.display()))
            .fix("add --job JOB to send it all the same")
    })?;
    Ok(DeliveryRequest::new(body).header("X-Service-Job-Id", job.as_str()))
}

async fn of_entry(
    inbox: &InboxArgument,
    job: &JobId,
    environment: &Environment,
) -> Result<DeliveryRequest, Failure> {
    let place = inbox.place(environment)?;
    let inbox = place.read().await?;
    let shown = escape::line(job.as_str());
    let key = EntryKey::article(job.clone());
    let (entry, bodies) = inbox.show(key).await?.ok_or_else(|| {
        Failure::nothing_matched(format!("no article of {shown}")).fix(command::list(place.shown()))
    })?;
    let body = handed(&entry, &bodies)?.clone();
    Ok(DeliveryRequest::new(body).header("X-Service-Job-Id", job.as_str()))
}
