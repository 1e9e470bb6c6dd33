//! The ledger: the jobs that were ordered or are missing, and what is known of their articles.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{ExpectedJob, JobFilter, JobState, Topic};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::{Value, json};

use super::selection::{Kind, PagingArguments, before_now};
use crate::{
    context::Context,
    failure::{Exit, Failure},
    output::{Table, Tone},
    store::InboxWord,
    text::{
        escape,
        moment::{self, exact, relative},
    },
};

/// How many characters of a topic are shown. All of a job id and of an intent are, since other commands take them.
const MAX_TOPIC: usize = 40;

#[derive(Debug, Args)]
pub(super) struct JobsArguments {
    #[command(flatten)]
    inbox: InboxWord,
    #[command(flatten)]
    extent: PagingArguments,
    /// Only jobs in this state
    #[arg(long, value_parser = states(), help_heading = "Filters")]
    state: Option<JobState>,
    /// Only jobs that were ordered with this intent
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    intent: Option<String>,
    /// Only jobs that have been expected for longer than this, such as 90s, 2h or 7d
    #[arg(long, value_name = "AGE", value_parser = moment::age, help_heading = "Filters")]
    older_than: Option<Duration>,
}

fn states() -> impl TypedValueParser<Value = JobState> {
    PossibleValuesParser::new(JobState::ALL.iter().map(|state| state.as_str()))
        .map(|name| JobState::from_name(&name).expect("a possible value is the name of a state"))
}

pub(super) async fn run(arguments: JobsArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let filter = JobFilter {
        state: arguments.state,
        intent: arguments.intent.map(Into::into),
        expected_before: arguments.older_than.map(before_now),
        ..JobFilter::default()
    };
    let read = async |after, limit| {
        let page = inbox.jobs(JobFilter { after, limit, ..filter.clone() }).await?;
        Ok((page.items, page.next))
    };
    let kind = Kind { name: "job", json, table };
    if !arguments.extent.show(&kind, &context.output, read).await? {
        context.output.note("no job matches");
    }
    Ok(Exit::Done)
}

fn table(jobs: &[ExpectedJob]) -> Table {
    let now = SystemTime::now();
    let heads = ["JOB", "STATE", "POLLS", "EXPECTED", "TIME", "INTENT", "TOPIC", "CAUSE"];
    let mut table = Table::new(heads);
    for job in jobs {
        let plain = |text| (Tone::Plain, text);
        let topic = escape::line(job.topic.as_ref().map_or("", Topic::as_str));
        table.row([
            plain(escape::line(job.job_id.as_str())),
            (Tone::of_job(job.state), job.state.as_str().replace('_', " ")),
            plain(job.polls.to_string()),
            plain(relative(job.expected_at, now)),
            plain(when(job, now)),
            plain(escape::line(job.intent.as_deref().unwrap_or_default())),
            plain(escape::cut_to(&topic, MAX_TOPIC).into_owned()),
            plain(escape::line(job.cause.as_deref().unwrap_or_default())),
        ]);
    }
    table
}

/// What the time of the job means in its state.
fn when(job: &ExpectedJob, now: SystemTime) -> String {
    let time = relative(job.at, now);
    match job.state {
        JobState::Expected if job.at > now => format!("next poll {time}"),
        JobState::Expected => format!("poll due {time}"),
        JobState::Polling => format!("lease ends {time}"),
        _ => format!("since {}", time.trim_end_matches(" ago")),
    }
}

fn json(job: &ExpectedJob) -> Value {
    let at_in = |state| (job.state == state).then(|| exact(job.at));
    json!({
        "id": job.id,
        "job_id": job.job_id.as_str(),
        "state": job.state.as_str(),
        "reason": job.reason.to_string(),
        "intent": job.intent,
        "topic": job.topic.as_ref().map(Topic::as_str),
        "expected_at": exact(job.expected_at),
        "due_at": at_in(JobState::Expected),
        "lease_ends_at": at_in(JobState::Polling),
        "ended_at": (!job.state.is_open()).then(|| exact(job.at)),
        "polls": job.polls,
        "pushed_at": job.pushed_at.map(exact),
        "collected_at": job.collected_at.map(exact),
        "cause": job.cause,
    })
}
