mod ids;
mod no_calls;

use std::{collections::HashMap, path::PathBuf, time::Duration};

use article_client::JobId;
use article_collector::Collector;
use article_inbox::{Inbox, JobState};
use clap::Args;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    calls::ServiceArguments,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Output, Table, Tone},
    store,
    text::escape,
    text::moment,
};

/// How often the ledger is looked at.
const TICK: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(crate) struct CollectArguments {
    /// The inbox that gets the articles
    #[arg(long, value_name = "FILE")]
    inbox: PathBuf,
    /// The jobs; without them, those that the ledger of the inbox expects now
    #[arg(value_name = "JOB")]
    jobs: Vec<JobId>,
    /// Read job ids from this file, one a line; - is standard input
    #[arg(long, value_name = "PATH", conflicts_with = "jobs")]
    from: Option<PathBuf>,
    /// Only show what would be asked for
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    service: ServiceArguments,
}

pub(crate) async fn run(arguments: CollectArguments, context: &Context) -> Result<Exit, Failure> {
    let output = &context.output;
    let shared = store::shared(&arguments.inbox).await?;
    let (ids, is_named) = match &arguments.from {
        Some(path) => (ids::of_file(path)?, true),
        None if arguments.jobs.is_empty() => (ids::of_ledger(&shared).await?, false),
        None => (arguments.jobs.clone(), true),
    };
    if ids.is_empty() {
        return Err(match is_named {
            true => Failure::nothing_matched("there is no job id in it"),
            false => Failure::nothing_matched("the ledger has no job that is to be asked for now"),
        });
    }
    if arguments.dry_run {
        return plan(&shared, ids, output).await;
    }
    context.environment.may_change_inbox()?;
    let client = arguments.service.client(&context.environment)?;
    if is_named {
        let stored = Collector::new(&shared, client.clone()).expect_all(ids.clone()).await;
        stored.map_err(|stopped| Failure::from(stopped.error))?;
    }
    shared.close().await?;
    let inbox = match store::exclusive(&arguments.inbox).await {
        Ok(inbox) => inbox,
        Err(why) => {
            output.note(&why.to_string());
            let line = format!(
                "{} jobs are in the ledger: the collector of that process asks for them",
                ids.len()
            );
            output.either(&json!({ "stored": ids.len() }), &line)?;
            return Ok(Exit::Done);
        }
    };
    let asked = ask(&Collector::new(&inbox, client), &inbox, &ids, output).await;
    let closed = inbox.close().await;
    let states = asked?;
    closed?;
    report(&ids, &states, output)
}

async fn plan(inbox: &Inbox, ids: Vec<JobId>, output: &Output) -> Result<Exit, Failure> {
    let plan = Collector::new(inbox, no_calls::NoCalls).plan(ids).await?;
    if output.is_json() {
        output.json(&json!({
            "ask_for": plan.asked_for,
            "has_article": plan.has_article,
            "no_trace": plan.no_trace,
            "takes_seconds": plan.takes.as_secs(),
        }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::plain();
    let mut row = |count: u64, text: &str| {
        table.row([(Tone::Head, format!("{count:>6}")), (Tone::Plain, text.to_owned())]);
    };
    row(plan.asked_for, "jobs would be asked for");
    row(plan.no_trace, "of them left no trace in this inbox");
    row(plan.has_article, "jobs have their article");
    table.write(output)?;
    output.note(&format!("it would take {}; nothing was changed", moment::span(plan.takes)));
    Ok(Exit::Done)
}

/// Asks until no job is to be asked for now. Returns the jobs' states.
async fn ask(
    collector: &Collector,
    inbox: &Inbox,
    ids: &[JobId],
    output: &Output,
) -> Result<HashMap<JobId, JobState>, Failure> {
    let mut running = tokio::spawn(collector.clone().run(std::future::pending::<()>()));
    let stop = running.abort_handle();
    let states = async {
        loop {
            let (states, due) = look(inbox, ids).await?;
            output.progress(&format!("{due} of {} to ask for", ids.len()));
            let paused = collector.health().await?.ledger.paused;
            if due == 0 {
                return Ok(states);
            }
            if let Some(pause) = paused {
                let why = pause.why.as_str().replace('_', " ");
                return Err(Failure::failed(format!(
                    "the service asked for a pause ({why}), until {}",
                    moment::shown(pause.until)
                ))
                .mend("repeat the command after that; what was asked for stays in the ledger"));
            }
            sleep(TICK).await;
        }
    };
    let states = tokio::select! {
        states = states => states,
        ended = &mut running => match ended {
            Ok(Err(error)) => Err(error.into()),
            _ => Err(Failure::failed("the collector ended")),
        },
    };
    output.progress("");
    stop.abort();
    let _ = running.await;
    states
}

/// The states of the jobs, and how many of them are to be asked for now.
async fn look(inbox: &Inbox, ids: &[JobId]) -> Result<(HashMap<JobId, JobState>, usize), Failure> {
    let ledger = inbox.ledger();
    let (mut states, mut due) = (HashMap::new(), 0);
    for id in ids {
        if let Some(job) = ledger.job(id.clone()).await? {
            let is_due = job.state == JobState::Asking
                || (job.state == JobState::Expected && job.at <= ledger.now());
            due += usize::from(is_due);
            states.insert(id.clone(), job.state);
        }
    }
    Ok((states, due))
}

fn report(
    ids: &[JobId],
    states: &HashMap<JobId, JobState>,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut table = Table::new(["JOB", "STATE"]);
    for id in ids {
        // Without a state: it was forgotten meanwhile.
        let Some(state) = states.get(id) else { continue };
        let tone = match state {
            JobState::Arrived | JobState::Collected => Tone::Good,
            JobState::Expected | JobState::Asking => Tone::Busy,
            JobState::Failed | JobState::Unreadable | JobState::NotFound => Tone::Bad,
        };
        match output.is_json() {
            true => output.json(&json!({ "job_id": id.as_str(), "state": state.as_str() }))?,
            false => table.row([
                (Tone::Plain, escape::line(id.as_str())),
                (tone, state.as_str().replace('_', " ")),
            ]),
        }
    }
    if !output.is_json() {
        table.write(output)?;
    }
    let missing =
        ids.iter().filter(|id| !states.get(id).is_some_and(|state| state.has_article())).count();
    if missing == 0 {
        return Ok(Exit::Done);
    }
    output.note(&format!(
        "\n{missing} of {} have no article yet: repeat the command later",
        ids.len()
    ));
    Ok(Exit::Failed)
}
