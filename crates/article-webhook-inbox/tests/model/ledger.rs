//! Calls of the ledger.

use std::{
    collections::VecDeque,
    fmt::Debug,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, Error, ExpectedJob, IntentState, JobFilter, JobState, Missing, PauseReason, Reason,
    Topic,
    store::{
        Bucket, BucketEvent, BucketSettings, Expect, ExportLine, IntentLease, IntentRow, JobRow,
        Pause, PollClaim, PollLease, Store, from_millis, to_millis,
    },
};
use article_webhook_inbox_contract::lines::{intent_line, job_line};

use crate::{
    ledger_step::LedgerStep,
    pair::{Answer, Given},
    step::{CODES, INTENTS},
};

/// The item of that age, or one that does not exist.
pub(crate) fn aged<T: Copy>(items: &VecDeque<T>, age: usize, otherwise: T) -> T {
    if items.is_empty() { otherwise } else { items[age % items.len()] }
}

fn settings(key: u64) -> BucketSettings {
    BucketSettings { per_minute: 60, burst: 6, key }
}

pub(crate) async fn call(
    store: &dyn Store,
    (given, now): (&Given, SystemTime),
    step: &LedgerStep,
) -> Result<Answer, Error> {
    let answer = match step.clone() {
        LedgerStep::Intend { intent, within, again, key, topic } => {
            let intended = if again {
                store.order_again(INTENTS[intent], within, key, topic).await?
            } else {
                store.intend(INTENTS[intent], within, key, topic).await?
            };
            return Ok(Answer::Intended(intended));
        }
        LedgerStep::ClaimAsks { limit, lease, key } => {
            let claim = PollClaim { limit, lease, bucket: settings(key) };
            return store.claim_polls(claim).await.map(Answer::Polls);
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
            text(store.settle_poll(aged(&given.polls, lease, none), outcome, key).await?)
        }
        LedgerStep::Report(event) => text(store.report(event).await?),
        LedgerStep::Bucket => text(store.bucket().await?),
        LedgerStep::Job(job) => text(store.job(job).await?),
        LedgerStep::Jobs { filter, expected_ago } => {
            let expected_before = expected_ago.map(|ago| now - ago);
            let after = given.first + filter.after;
            text(store.jobs(JobFilter { expected_before, after, ..filter }).await?)
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
            let why = PauseReason::RateLimited;
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

pub(crate) fn text(answer: impl Debug) -> Answer {
    Answer::Text(format!("{answer:?}"))
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
