use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use article_webhook_client::{Created, Error, JobId, NewArticle, Response};
use article_webhook_collector::{Api, Calling, Collector};
use article_webhook_inbox::{
    ExpectedJob, Inbox, JobFilter, JobState, Reason,
    store::{Expect, Pause},
};
use clap::Args;
use serde_json::json;
use tokio::{io::AsyncBufReadExt as _, time::sleep};

use crate::{
    calls::ServiceArguments,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    settings::input,
    store::{InboxOption, Place},
    text::{command, escape, moment},
};

/// How often the ledger is looked at.
const TICK: Duration = Duration::from_millis(200);

/// The state of each job, and since or until when it is in it.
type States = HashMap<JobId, (JobState, SystemTime)>;

#[derive(Debug, Args)]
pub(crate) struct CollectArguments {
    #[command(flatten)]
    inbox: InboxOption,
    /// The jobs [default: those that the ledger of the inbox expects now]
    #[arg(value_name = "JOB")]
    jobs: Vec<JobId>,
    /// Read job ids from this file, one per line; - is standard input
    #[arg(long, value_name = "PATH", conflicts_with = "jobs")]
    from: Option<PathBuf>,
    /// Only show what would be polled
    #[arg(long)]
    dry_run: bool,
    /// End the pause that the service requested, or that a refused key caused
    #[arg(long, conflicts_with = "dry_run")]
    resume: bool,
    #[command(flatten)]
    service: ServiceArguments,
}

pub(crate) async fn run(arguments: CollectArguments, context: &Context) -> Result<Exit, Failure> {
    let output = &context.output;
    let place = arguments.inbox.place(&context.environment)?;
    let shared = place.shared().await?;
    if arguments.resume {
        resume(&shared, &arguments, context).await?;
    }
    let (mut ids, is_named) = match &arguments.from {
        Some(path) => (ids_of_file(path).await?, true),
        None if arguments.jobs.is_empty() => {
            let Expected { due, next } = ids_of_ledger(&shared).await?;
            if due.is_empty() {
                return Err(nothing_due(next, &place));
            }
            (due, false)
        }
        None => (arguments.jobs.clone(), true),
    };
    let mut distinct = HashSet::new();
    ids.retain(|id| distinct.insert(id.clone()));
    if ids.is_empty() {
        return Err(Failure::nothing_matched("there is no job id in it")
            .fix("write one job id a line; `#` begins a comment"));
    }
    if arguments.dry_run {
        return plan(&shared, ids, output).await;
    }
    context.environment.may_change_inbox()?;
    let client = arguments.service.client(&context.environment)?;
    if is_named {
        let stored = Collector::new(&shared, client.clone()).expect_all(ids.clone()).await;
        stored.map_err(|stopped| Failure::from(stopped.error))?;
        if arguments.from.is_none() {
            expect_now(&shared, &ids).await?;
        }
    }
    shared.close().await?;
    let inbox = match place.exclusive().await {
        Ok(inbox) => inbox,
        Err(_) if place.is_worked_on() => return left_to_others(ids.len(), output),
        Err(why) => return Err(why),
    };
    let polled = poll(&Collector::new(&inbox, client), &inbox, &ids, output).await;
    let closed = inbox.close().await;
    let states = polled?;
    closed?;
    report(&ids, &states, output)
}

async fn resume(
    inbox: &Inbox,
    arguments: &CollectArguments,
    context: &Context,
) -> Result<(), Failure> {
    context.environment.may_change_inbox()?;
    let client = arguments.service.client(&context.environment)?;
    let collector = Collector::new(inbox, client);
    let line = match collector.health().await?.ledger.paused {
        Some(pause) => format!("lifted: {}", pause_text(&pause)),
        None => "there is no pause to lift".to_owned(),
    };
    collector.resume().await?;
    context.output.note(&line);
    Ok(())
}

/// Why nothing is polled, and until when.
pub(super) fn pause_text(pause: &Pause) -> String {
    let why = pause.why.as_str().replace('_', " ");
    format!("the service asked for a pause ({why}), until {}", moment::shown(pause.until))
}

/// A person asks for these jobs: each without an article is polled now, also one that ended, or that is due later.
async fn expect_now(inbox: &Inbox, ids: &[JobId]) -> Result<(), Failure> {
    let ledger = inbox.ledger();
    for id in ids {
        if ledger.job(id.clone()).await?.is_some_and(|job| !is_spread(&job)) {
            ledger.expect(vec![Expect::job(id.clone(), ledger.now())]).await?;
        }
    }
    Ok(())
}

/// No job of the ledger is to be polled now.
fn nothing_due(next: Option<SystemTime>, place: &Place) -> Failure {
    let what = "the ledger has no job that is to be polled now";
    let Some(next) = next else {
        let name = command::collect_job(place.shown());
        return Failure::nothing_matched(what).fix(format!("name a job to poll it: {name}"));
    };
    let (time, when) = (moment::shown(next), moment::relative(next, SystemTime::now()));
    Failure::nothing_matched(format!("{what}; the next is due {when}, at {time}"))
        .fix(format!("repeat the command then; to read an article before: {}", command::get("JOB")))
}

/// The jobs stay in the ledger: a store in a file claims polls for the process that works on it alone.
fn left_to_others(count: usize, output: &Output) -> Result<Exit, Failure> {
    let (jobs, them) = if count == 1 { ("job is", "it") } else { ("jobs are", "them") };
    let line = format!(
        "{count} {jobs} in the ledger. Another process works on the inbox: its collector polls {them}, if it has one"
    );
    output.either("left", &json!({ "stored": count }), &line)?;
    output.note("`listen` has one if it was started with the URL and the key of the service");
    Ok(Exit::Done)
}

async fn plan(inbox: &Inbox, ids: Vec<JobId>, output: &Output) -> Result<Exit, Failure> {
    let collector = Collector::new(inbox, NoCalls);
    let plan = collector.plan(ids).await?;
    if let Some(pause) = collector.health().await?.ledger.paused {
        output.note(&format!("{}; --resume lifts it", pause_text(&pause)));
    }
    if output.is_json() {
        let value = json!({
            "to_poll": plan.to_poll,
            "has_article": plan.has_article,
            "given_up": plan.given_up,
            "no_trace": plan.no_trace,
            "takes_seconds": plan.takes.as_secs(),
        });
        output.json("plan", &value)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::plain();
    let mut row = |count: u64, text: &str| {
        table.row([(Tone::Head, format!("{count:>6}")), (Tone::Plain, text.to_owned())]);
    };
    row(plan.to_poll, "jobs would be polled");
    row(plan.no_trace, "of them left no trace in this inbox");
    row(plan.has_article, "jobs have their article");
    if plan.given_up > 0 {
        row(plan.given_up, "jobs failed, are unreadable or were not found: name one to poll it");
    }
    table.write(output)?;
    output.note(&format!("it would take {}; nothing was changed", moment::span(plan.takes)));
    Ok(Exit::Done)
}

/// Polls until no job is to be polled now. Returns the jobs' states.
async fn poll(
    collector: &Collector,
    inbox: &Inbox,
    ids: &[JobId],
    output: &Output,
) -> Result<States, Failure> {
    let mut running = tokio::spawn(collector.clone().run(std::future::pending::<()>()));
    let stop = running.abort_handle();
    let states = async {
        loop {
            let (states, due) = look(inbox, ids).await?;
            output.progress(&format!("{due} of {} to poll", ids.len()));
            let paused = collector.health().await?.ledger.paused;
            if due == 0 {
                return Ok(states);
            }
            if let Some(pause) = paused {
                return Err(Failure::failed(pause_text(&pause)).fix(
                    "repeat the command after that, or with --resume to poll now; the jobs stay in the ledger",
                ));
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

/// Whether the job waits for its first poll among many that are named: they are spread at the rate.
fn is_spread(job: &ExpectedJob) -> bool {
    job.state == JobState::Expected && job.reason == Reason::Backfill && job.polls == 0
}

/// The states of the jobs, and how many of them are to be polled now.
async fn look(inbox: &Inbox, ids: &[JobId]) -> Result<(States, usize), Failure> {
    let ledger = inbox.ledger();
    let (mut states, mut due) = (HashMap::new(), 0);
    for id in ids {
        if let Some(job) = ledger.job(id.clone()).await? {
            let is_due = job.state == JobState::Polling
                || is_spread(&job)
                || (job.state == JobState::Expected && job.at <= ledger.now());
            due += usize::from(is_due);
            states.insert(id.clone(), (job.state, job.at));
        }
    }
    Ok((states, due))
}

fn report(ids: &[JobId], states: &States, output: &Output) -> Result<Exit, Failure> {
    let mut table = Table::new(["JOB", "STATE"]);
    for id in ids {
        // Without a state: it was erased meanwhile.
        let Some((state, _)) = states.get(id) else { continue };
        match output.is_json() {
            true => output
                .json("job_state", &json!({ "job_id": id.as_str(), "state": state.as_str() }))?,
            false => table.row([
                (Tone::Plain, escape::line(id.as_str())),
                (Tone::of_job(*state), state.as_str().replace('_', " ")),
            ]),
        }
    }
    if !output.is_json() {
        table.write(output)?;
    }
    let has_article = |id: &&JobId| states.get(*id).is_some_and(|(state, _)| state.has_article());
    let missing = ids.len() - ids.iter().filter(has_article).count();
    if missing == 0 {
        return Ok(Exit::Done);
    }
    let next = states.values().filter(|(state, _)| *state == JobState::Expected).map(|(_, at)| *at);
    let next = next.min().map(|next| moment::relative(next, SystemTime::now()));
    let when = next.map(|next| format!("; the next is due {next}")).unwrap_or_default();
    Err(Failure::failed(format!("{missing} of {} have no article yet", ids.len()))
        .fix(format!("repeat the command later{when}")))
}

/// One id a line. Empty lines and those that begin with `#` are left out.
async fn ids_of_file(path: &Path) -> Result<Vec<JobId>, Failure> {
    let unreadable = |error: &std::io::Error| {
        Failure::of_file(path, error).fix("name a file that you may read, or - for standard input")
    };
    let mut lines = match path.as_os_str() == "-" {
        true => input::standard(),
        false => input::file(path).await.map_err(|error| unreadable(&error))?,
    }
    .lines();
    let (mut ids, mut number) = (Vec::new(), 0);
    while let Some(line) = lines.next_line().await.map_err(|error| unreadable(&error))? {
        number += 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        ids.push(line.parse().map_err(|error: article_webhook_client::InvalidJobId| {
            Failure::usage(format!("line {number} is not a job id"))
                .because(&error)
                .fix(format!("correct line {number} of {}, or remove it", path.display()))
        })?);
    }
    Ok(ids)
}

/// The jobs that the ledger expects.
#[derive(Default)]
struct Expected {
    /// The jobs whose time to be polled has come.
    due: Vec<JobId>,
    /// When the first of the others is due.
    next: Option<SystemTime>,
}

async fn ids_of_ledger(inbox: &Inbox) -> Result<Expected, Failure> {
    let ledger = inbox.ledger();
    let mut filter = JobFilter { state: Some(JobState::Expected), ..JobFilter::default() };
    let mut expected = Expected::default();
    loop {
        let page = ledger.jobs(filter.clone()).await?;
        for job in page.items {
            if job.at <= ledger.now() {
                expected.due.push(job.job_id);
            } else {
                expected.next = Some(expected.next.map_or(job.at, |next| next.min(job.at)));
            }
        }
        let Some(after) = page.next else { return Ok(expected) };
        filter.after = after;
    }
}

/// An API for a dry run, which needs no key. It is never called.
struct NoCalls;

impl Api for NoCalls {
    fn create<'a>(&'a self, _: &'a NewArticle) -> Calling<'a, Created> {
        Box::pin(async { Err(Error::unreachable("a dry run makes no calls")) })
    }

    fn poll<'a>(&'a self, _: &'a JobId) -> Calling<'a, Response> {
        Box::pin(async { Err(Error::unreachable("a dry run makes no calls")) })
    }

    fn timeout(&self) -> Duration {
        Duration::ZERO
    }

    fn key_fingerprint(&self) -> u64 {
        0
    }
}
