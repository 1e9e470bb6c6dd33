use std::time::SystemTime;

use article_webhook::{ArticleResult, JobId};
use article_webhook_inbox::{Body, Entry, Filter, State};
use clap::Args;
use serde_json::{Value, json};

use super::view;
use crate::{
    command::handed::handed,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    store::InboxWord,
    text::command,
    text::counted,
    text::escape,
    text::moment::{exact, relative, shown},
};

#[derive(Debug, Args)]
#[command(override_usage = "article-webhook inbox show [OPTIONS] [INBOX] <JOB>")]
pub(super) struct ShowArguments {
    #[command(flatten)]
    inbox: InboxWord,
    /// The job
    #[arg(value_name = "JOB")]
    job: Option<JobId>,
    /// Only the entry of this event
    #[arg(long)]
    event: Option<String>,
    /// Print only the body that the handler gets
    #[arg(long)]
    body: bool,
}

pub(super) async fn run(arguments: ShowArguments, context: &Context) -> Result<Exit, Failure> {
    let ShowArguments { mut inbox, job, event, body } = arguments;
    // One word alone is the job.
    let job = job.or_else(|| inbox.take()?.to_str()?.parse().ok()).ok_or_else(|| {
        Failure::usage("the job is missing, or is not a job id")
            .fix("article-webhook inbox show INBOX JOB")
    })?;
    let place = inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let event = event.as_deref().map(Into::into);
    let filter = Filter { event, job_id: Some(job.clone()), ..Filter::default() };
    let mut entries = Vec::new();
    for entry in inbox.list(filter).await?.items {
        // `None`: it was erased since the list was read.
        entries.extend(inbox.show(entry.key).await?);
    }
    if entries.is_empty() {
        let what = format!("no entry of {job:?}", job = job.as_str());
        let list = command::list(place.shown());
        return Err(Failure::nothing_matched(what).fix(format!("see which there are: {list}")));
    }
    if body {
        // The article goes before what was kept beside it.
        entries.sort_by_key(|(entry, _)| !entry.key.is_article());
        let bodies = entries.iter().map(|(entry, bodies)| handed(entry, bodies));
        let bytes = bodies.reduce(Result::or).expect("there is an entry")?;
        match context.output.is_json() {
            true => context.output.service_json(bytes)?,
            false => context.output.document(bytes)?,
        }
        return Ok(Exit::Done);
    }
    for (number, (entry, bodies)) in entries.iter().enumerate() {
        if context.output.is_json() {
            context.output.json("entry", &whole(entry, bodies))?;
            continue;
        }
        if number > 0 {
            context.output.line("")?;
        }
        write(entry, bodies, &context.output)?;
    }
    Ok(Exit::Done)
}

fn write(entry: &Entry, bodies: &[Body], output: &Output) -> Result<(), Failure> {
    let now = SystemTime::now();
    let job = escape::line(entry.key.job_id.as_str());
    let event = escape::line(entry.key.event.as_str());
    output.line(&format!(
        "{}  {}",
        output.paint(Tone::Head, &job),
        output.paint(Tone::Quiet, &event)
    ))?;

    let state = output.paint(Tone::of(entry.state), entry.state.as_str());
    let mut facts = Table::plain();
    facts.fact("state", format!("{state}, {}", view::when(entry, now)));
    facts.fact("attempts", entry.attempts.to_string());
    if let Some(node) = &entry.node {
        facts.fact("node", escape::line(node));
    }
    facts.fact(
        "received",
        format!("{}, {}", shown(entry.received_at), relative(entry.received_at, now)),
    );
    facts.fact("target", escape::line(&entry.target));
    if entry.conflicts > 0 {
        let others = ("other body of the job", "other bodies of the job");
        facts.fact("conflicts", counted(entry.conflicts.into(), others.0, others.1));
    }
    if let Some(cause) = &entry.cause {
        facts.fact("cause", escape::line(cause));
    }
    facts.write(output)?;

    if !entry.failures.is_empty() {
        output.line("\n  failures")?;
        let mut table = Table::plain();
        for equal in entry.failures.chunk_by(|one, next| one.cause == next.cause) {
            let (first, last) = (&equal[0], &equal[equal.len() - 1]);
            let (attempts, times) = match equal.len() {
                1 => (format!("attempt {}", first.attempt), shown(first.at)),
                count => (
                    format!("{count} × attempts {} to {}", first.attempt, last.attempt),
                    format!("{} to {}", shown(first.at), shown(last.at)),
                ),
            };
            table.row([
                (Tone::Plain, format!("    {attempts}")),
                (Tone::Quiet, times),
                (Tone::Plain, escape::line(&first.cause)),
            ]);
        }
        table.write(output)?;
    }
    output.line("\n  bodies")?;
    let mut table = Table::plain();
    let handed = handed_index(entry, bodies);
    for (index, body) in bodies.iter().enumerate() {
        let size = body
            .bytes
            .as_ref()
            .map_or("removed".to_owned(), |bytes| format!("{} bytes", bytes.len()));
        let sha256 = format!("sha256 {:.12}…", body.digest.to_string());
        table.row([
            (Tone::Plain, format!("    {}", body.source)),
            (Tone::Quiet, shown(body.received_at)),
            (Tone::Plain, size),
            (Tone::Quiet, sha256),
            match handed == Some(index) {
                true => (Tone::Good, "the handler gets it".to_owned()),
                false => (Tone::Quiet, "no handler gets it".to_owned()),
            },
            (Tone::Plain, meaning(body)),
        ]);
    }
    table.write(output)
}

/// Which body the handler gets. What is in quarantine it does not get.
fn handed_index(entry: &Entry, bodies: &[Body]) -> Option<usize> {
    match entry.state {
        State::Quarantined => None,
        _ => entry.key.handed(bodies),
    }
}

/// The title of the article, or why the body is none.
fn meaning(body: &Body) -> String {
    let Some(bytes) = &body.bytes else { return String::new() };
    if !body.is_intact() {
        return "differs from what was received".to_owned();
    }
    match ArticleResult::from_json(bytes) {
        Ok(result) => format!("“{}”", escape::line(&escape::cut(&result.article.title))),
        Err(error) => escape::line(&error.to_string()),
    }
}

fn whole(entry: &Entry, bodies: &[Body]) -> Value {
    let failures = entry.failures.iter().map(|failure| {
        json!({ "at": exact(failure.at), "attempt": failure.attempt, "cause": failure.cause })
    });
    let handed = handed_index(entry, bodies);
    let bodies = bodies.iter().enumerate().map(|(index, body)| {
        json!({
            "received_at": exact(body.received_at),
            "source": body.source.as_str(),
            "target": body.target,
            "intent": body.intent,
            "sha256": body.digest.to_string(),
            "bytes": body.bytes.as_ref().map(|bytes| bytes.len()),
            "is_handed": handed == Some(index),
        })
    });
    let mut whole = view::json(entry);
    whole["failures"] = failures.collect();
    whole["bodies"] = bodies.collect();
    whole
}
