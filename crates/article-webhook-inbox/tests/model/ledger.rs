//! Calls of the ledger.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, Error, ExpectedJob, Intent, IntentState, JobFilter, JobState, Missing, Reason, Topic,
    store::{
        ApiAnswer, Bucket, BucketEvent, BucketSettings, Expect, ExportLine, Intended, IntentLease,
        IntentRow, JobRow, Pause, PollClaim, PollLease, PollOutcome, Polls, Store, from_millis,
        to_millis,
    },
};
use article_webhook_inbox_contract::lines::{intent_line, job_line};
use bytes::Bytes;

use crate::{
    ledger_step::{LedgerStep, Polled},
    step::{BODIES, CODES, INTENTS},
};

/// What a store answers. Most answers are compared as text.
#[derive(Debug, PartialEq)]
pub(crate) enum LedgerAnswer {
    Polls(Polls),
    Intended(Intended),
    Text(String),
}

/// What a sequence has been given, the last first.
#[derive(Default)]
pub(crate) struct Given {
    polls: VecDeque<PollLease>,
    intents: VecDeque<IntentLease>,
    /// The last id of a job or an intent before this sequence.
    first: i64,
}

impl Given {
    pub(crate) fn after(everything: &Everything, before: &Self) -> Self {
        let last = everything.jobs.last().map_or(0, |job| job.id);
        Self { first: last.max(before.first), ..Self::default() }
    }

    pub(crate) fn note(&mut self, answer: &LedgerAnswer) {
        match answer {
            LedgerAnswer::Polls(polls) => {
                polls.polls.iter().for_each(|poll| self.polls.push_front(poll.lease));
            }
            LedgerAnswer::Intended(Intended::Begun(lease)) => self.intents.push_front(*lease),
            _ => {}
        }
    }
}

/// The item of that age, or one that does not exist.
fn aged<T: Copy>(items: &VecDeque<T>, age: usize, otherwise: T) -> T {
    if items.is_empty() { otherwise } else { items[age % items.len()] }
}

fn settings(key: u64) -> BucketSettings {
    BucketSettings { per_minute: 60, burst: 6, key }
}

pub(crate) async fn call(
    store: &dyn Store,
    (given, now): (&Given, SystemTime),
    step: &LedgerStep,
) -> Result<LedgerAnswer, Error> {
    let answer = match step.clone() {
        LedgerStep::Intend { intent, within, again, key, topic } => {
            let intended = if again {
                store.order_again(INTENTS[intent], within, key, topic).await?
            } else {
                store.intend(INTENTS[intent], within, key, topic).await?
            };
            return Ok(LedgerAnswer::Intended(intended));
        }
        LedgerStep::ClaimAsks { limit, lease, key } => {
            let claim = PollClaim { limit, lease, bucket: settings(key) };
            return store.claim_polls(claim).await.map(LedgerAnswer::Polls);
        }
        LedgerStep::Ordered { intent, job, after } => {
            text(store.ordered(INTENTS[intent], job, now + after, 1).await?)
        }
        LedgerStep::NotOrdered(age) => {
            let none = IntentLease { id: given.first + 1, fence: 1 };
            text(store.not_ordered(aged(&given.intents, age, none)).await?)
        }
        LedgerStep::OutcomeLost(age) => {
            let none = IntentLease { id: given.first + 1, fence: 1 };
            text(store.outcome_lost(aged(&given.intents, age, none)).await?)
        }
        LedgerStep::Abandon(intent) => text(store.abandon(INTENTS[intent]).await?),
        LedgerStep::Expect(jobs) => {
            let expect = |(job_id, reason, intent, after): (_, usize, Option<usize>, _)| Expect {
                job_id,
                reason: match reason {
                    0 => Reason::Backfill,
                    1 => Reason::Refused { code: CODES[0].into() },
                    2 => Reason::Ordered,
                    _ => Reason::OrderedElsewhere,
                },
                key: intent.map(|intent| u64::try_from(intent).unwrap_or_default()),
                intent: intent.map(|intent| INTENTS[intent].into()),
                at: now + after,
            };
            text(store.expect(jobs.into_iter().map(expect).collect()).await?)
        }
        LedgerStep::SettlePoll { lease, outcome, key } => {
            let none = PollLease { id: given.first + 1, fence: 1 };
            text(store.settle_poll(aged(&given.polls, lease, none), polled(&outcome), key).await?)
        }
        LedgerStep::Report(event) => text(store.report(event).await?),
        LedgerStep::Bucket => text(store.bucket().await?),
        LedgerStep::Job(job) => text(store.job(job).await?),
        LedgerStep::Jobs { state, intent, expected_ago, after, limit } => {
            let intent = intent.map(|intent| INTENTS[intent].into());
            let expected_before = expected_ago.map(|ago| now - ago);
            let after = given.first + after;
            text(
                store
                    .jobs(JobFilter {
                        state,
                        intent,
                        expected_before,
                        after,
                        limit,
                        ..JobFilter::default()
                    })
                    .await?,
            )
        }
        LedgerStep::Intent(intent) => text(store.intent(INTENTS[intent]).await?),
        LedgerStep::Intents { state, after, limit } => {
            text(store.intents(state, given.first + after, limit).await?)
        }
        LedgerStep::Counts => text(store.ledger_counts().await?),
        LedgerStep::Prune { ago, limit } => text(store.prune_ledger(now - ago, limit).await?),
        LedgerStep::ImportJob { job, state, ago } => {
            let job = imported(job, state, now - ago);
            text(store.import(vec![job_line(job)]).await?)
        }
        LedgerStep::ImportIntent { intent, state, ago } => {
            let created_at = now - ago;
            let row = IntentRow::new(Duration::from_secs(60), created_at);
            let mut intent = row.into_intent(1, INTENTS[intent].into(), created_at);
            intent.state = state;
            intent.job_id =
                (state == IntentState::Ordered).then(|| "job_1".parse().expect("a job id"));
            intent.topic = Topic::of("boots");
            text(store.import(vec![intent_line(intent)]).await?)
        }
        LedgerStep::ImportBucket { full_in, ago } => {
            // As in JSON, times are whole milliseconds.
            let rounded = |time| from_millis(to_millis(time));
            let since = rounded(now - ago);
            let why = article_webhook_inbox::PauseReason::RateLimited;
            let pause = Some(Pause::new(since, since + Duration::from_millis(2), why));
            let (full_at, key_refused_at) = (rounded(now + full_in), None);
            text(
                store
                    .import(vec![ExportLine::Bucket(Bucket { full_at, pause, key_refused_at })])
                    .await?,
            )
        }
    };
    Ok(answer)
}

fn text(answer: impl std::fmt::Debug) -> LedgerAnswer {
    LedgerAnswer::Text(format!("{answer:?}"))
}

fn polled(polled: &Polled) -> PollOutcome {
    let answer = |body: usize| ApiAnswer {
        target: "api".into(),
        digest: Digest::of(BODIES[body].as_bytes()),
        bytes: Bytes::from_static(BODIES[body].as_bytes()),
    };
    let cause = String::from("job_not_found");
    match *polled {
        Polled::Answered(body) => PollOutcome::Answered(answer(body)),
        Polled::Failed(body) => PollOutcome::Failed { answer: answer(body), cause },
        Polled::NotFound => PollOutcome::NotFound { cause },
        Polled::Unfinished(after) => PollOutcome::Unfinished { after, cause },
        Polled::Unconfirmed(after, body) => {
            let statement = Digest::of(BODIES[body].as_bytes());
            PollOutcome::Unconfirmed { after, cause, statement }
        }
        Polled::Missing(after) => PollOutcome::Missing { after, cause },
        Polled::Rejected(after) => PollOutcome::Rejected { after, cause },
        Polled::Again(after) => PollOutcome::Again { after, cause },
        Polled::Released => PollOutcome::Released,
    }
}

fn imported(job_id: JobId, state: JobState, then: SystemTime) -> ExpectedJob {
    let row = JobRow {
        state,
        reason: Reason::Refused { code: CODES[1].into() },
        intent: Some(INTENTS[0].into()),
        expected_at: then,
        at: then + Duration::from_micros(1_500),
        polls: 2,
        key: Some(1),
        missing: Some(Missing::new(2, then)),
        collected_at: (state == JobState::Collected).then_some(then),
        unreadable_since: (state == JobState::Expected).then_some(then),
        unconfirmed: (state == JobState::Expected).then(|| Digest::of(b"failed")),
        cause: Some("status 503".into()),
        ..JobRow::unread()
    };
    row.into_job(1, job_id)
}

/// The whole ledger.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    jobs: Vec<ExpectedJob>,
    intents: Vec<Intent>,
    rest: String,
}

impl Everything {
    pub(crate) async fn of(store: &dyn Store) -> Result<Self, Error> {
        let filter = JobFilter { limit: 1_000, ..JobFilter::default() };
        let jobs = store.jobs(filter).await?.items;
        let intents = store.intents(None, 0, 1_000).await?.items;
        let (counts, bucket) = (store.ledger_counts().await?, store.bucket().await?);
        Ok(Self { jobs, intents, rest: format!("{counts:#?}\n{bucket:#?}") })
    }
}

/// Removes every job and every intent, so that nothing is left for the next sequence.
pub(crate) async fn clear(store: &dyn Store, jobs: &[JobId]) -> Result<(), Error> {
    for intent in INTENTS {
        store.ordered(intent, jobs[0].clone(), store.now(), 1).await?;
    }
    for job_id in jobs {
        store.erase(vec![job_id.clone()]).await?;
    }
    store.prune_ledger(store.now() + Duration::from_secs(1), 1_000).await?;
    store.report(BucketEvent::Resumed).await
}
