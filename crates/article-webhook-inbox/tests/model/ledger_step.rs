//! Which calls of the ledger a sequence makes.

use std::time::Duration;

use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, IntentState, JobFilter, JobState, Topic,
    store::{ApiAnswer, BucketEvent, PollOutcome},
};
use bytes::Bytes;
use fastrand::Rng;

use crate::step::{BODIES, INTENTS, job, lease, pause};

#[derive(Debug, Clone)]
pub(crate) enum LedgerStep {
    Intend {
        intent: usize,
        within: Duration,
        again: bool,
        key: u64,
        topic: Option<Topic>,
    },
    Ordered {
        intent: usize,
        job: JobId,
        after: Duration,
    },
    /// Leases by their age: 0 is the last.
    NotOrdered(usize),
    OutcomeLost(usize),
    Abandon(usize),
    Expect(Vec<(JobId, usize, Option<usize>, Duration)>),
    ClaimAsks {
        limit: u32,
        lease: Duration,
        key: u64,
    },
    SettlePoll {
        lease: usize,
        outcome: PollOutcome,
        key: u64,
    },
    Report(BucketEvent),
    Bucket,
    Job(JobId),
    /// The first id of the sequence is added to that of the filter.
    Jobs {
        filter: JobFilter,
        expected_ago: Option<Duration>,
    },
    Intent(usize),
    Intents {
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    },
    Counts,
    Prune {
        ago: Duration,
        limit: u32,
    },
    ImportJob {
        job: JobId,
        state: JobState,
        ago: Duration,
    },
    ImportIntent {
        intent: usize,
        state: IntentState,
        ago: Duration,
    },
    ImportBucket {
        full_in: Duration,
        ago: Duration,
    },
}

pub(crate) fn step(rng: &mut Rng) -> LedgerStep {
    let intent = |rng: &mut Rng| rng.usize(..INTENTS.len());
    let key = |rng: &mut Rng| rng.u64(..8) / 7;
    let limit = |rng: &mut Rng| if rng.bool() { rng.u32(1..4) } else { 100 };
    match rng.u32(..100) {
        0..10 => LedgerStep::Intend {
            intent: intent(rng),
            within: pause(rng),
            again: rng.bool(),
            key: rng.u64(..8) / 7,
            topic: Topic::of(["", "shoes", "knees"][rng.usize(..3)]),
        },
        10..17 => LedgerStep::Ordered { intent: intent(rng), job: job(rng), after: pause(rng) },
        17..20 => LedgerStep::NotOrdered(lease(rng)),
        20..22 => LedgerStep::Abandon(intent(rng)),
        22..38 => {
            let one = |rng: &mut Rng| {
                (job(rng), rng.usize(..4), rng.bool().then(|| intent(rng)), pause(rng))
            };
            let mut jobs: Vec<_> = (0..rng.usize(1..4)).map(|_| one(rng)).collect();
            // A store for many nodes takes the jobs of a call in this order, and numbers new ones by it.
            jobs.sort_by(|(one, ..), (other, ..)| one.as_str().cmp(other.as_str()));
            LedgerStep::Expect(jobs)
        }
        38..58 => LedgerStep::ClaimAsks { limit: limit(rng), lease: pause(rng), key: key(rng) },
        58..76 => LedgerStep::SettlePoll { lease: lease(rng), outcome: polled(rng), key: key(rng) },
        76 => LedgerStep::OutcomeLost(lease(rng)),
        77 => LedgerStep::Report(match rng.u32(..7) {
            0 => BucketEvent::RateLimited { retry_after: pause(rng) },
            1 => BucketEvent::KeyRefused { key: key(rng) },
            2 => BucketEvent::KeyAccepted { key: key(rng) },
            3 => BucketEvent::Unavailable { retry_after: pause(rng) },
            _ => BucketEvent::Resumed,
        }),
        78 => LedgerStep::Bucket,
        79..82 => LedgerStep::Job(job(rng)),
        82..85 => {
            let filter = JobFilter {
                state: rng.bool().then(|| state(rng)),
                intent: (rng.u32(..4) == 0).then(|| INTENTS[intent(rng)].into()),
                after: rng.i64(..12),
                limit: rng.u32(1..4),
                ..JobFilter::default()
            };
            let expected_ago = (rng.u32(..4) == 0).then(|| pause(rng));
            LedgerStep::Jobs { filter, expected_ago }
        }
        85 => LedgerStep::Intent(intent(rng)),
        86..88 => LedgerStep::Intents {
            state: rng.bool().then(|| intent_state(rng)),
            after: rng.i64(..12),
            limit: rng.u32(1..4),
        },
        88..92 => LedgerStep::Counts,
        92..95 => LedgerStep::Prune { ago: pause(rng), limit: limit(rng) },
        95..97 => LedgerStep::ImportJob { job: job(rng), state: state(rng), ago: pause(rng) },
        97..99 => LedgerStep::ImportIntent {
            intent: intent(rng),
            state: intent_state(rng),
            ago: pause(rng),
        },
        _ => LedgerStep::ImportBucket { full_in: pause(rng), ago: pause(rng) },
    }
}

fn state(rng: &mut Rng) -> JobState {
    JobState::ALL[rng.usize(..JobState::ALL.len())]
}

fn intent_state(rng: &mut Rng) -> IntentState {
    IntentState::ALL[rng.usize(..IntentState::ALL.len())]
}

fn polled(rng: &mut Rng) -> PollOutcome {
    let cause = String::from("job_not_found");
    match rng.u32(..14) {
        0..5 => PollOutcome::Answered(answer(rng)),
        5 => PollOutcome::Failed { answer: answer(rng), cause },
        6 => PollOutcome::NotFound { cause },
        7 => PollOutcome::Unfinished { after: pause(rng), cause },
        8 => PollOutcome::Missing { after: pause(rng), cause },
        9..11 => PollOutcome::Again { after: pause(rng), cause },
        11 => {
            let (after, statement) = (pause(rng), answer(rng).digest);
            PollOutcome::Unconfirmed { after, cause, statement }
        }
        12 => PollOutcome::Rejected { after: pause(rng), cause },
        _ => PollOutcome::Released,
    }
}

fn answer(rng: &mut Rng) -> ApiAnswer {
    let body = BODIES[rng.usize(..BODIES.len())].as_bytes();
    let (digest, bytes) = (Digest::of(body), Bytes::from_static(body));
    ApiAnswer { target: "api".into(), digest, bytes }
}
