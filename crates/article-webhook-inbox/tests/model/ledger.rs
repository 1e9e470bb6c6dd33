//! Calls of the ledger.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Digest, Error, ExpectedJob, Intent, IntentState, JobFilter, JobState, Missing, PauseReason,
    Reason, Topic,
    store::{
        ApiAnswer, Bucket, BucketEvent, BucketSettings, Expect, ExportLine, IntentRow, JobRow,
        Pause, PollClaim, PollOutcome, Store, from_millis, to_millis,
    },
};
use article_webhook_inbox_contract::lines::{intent_line, job_line};
use fastrand::Rng;

use crate::{
    pair::{Answer, Call, text},
    step::{BODIES, CODES, INTENTS, job, jobs, pause},
};

pub(crate) async fn call(call: &mut Call<'_>) -> Result<Answer, Error> {
    let Call { store, rng, given, now, about } = call;
    let choice = rng.u32(..100);
    *about = format!("call {choice} of the ledger");
    Ok(match choice {
        0..10 => {
            let (intent, within, is_again, key) = (intent(rng), pause(rng), rng.bool(), key(rng));
            let topic = Topic::of(["", "shoes", "knees"][rng.usize(..3)]);
            *about = format!("intend {intent} {within:?} {is_again} {key} {topic:?}");
            Answer::Intended(if is_again {
                store.order_again(intent, within, key, topic).await?
            } else {
                store.intend(intent, within, key, topic).await?
            })
        }
        10..17 => {
            let (intent, job, at) = (intent(rng), job(rng), *now + pause(rng));
            *about = format!("ordered {intent} {job} {at:?}");
            text(store.ordered(intent, job, at, 1).await?)
        }
        17..20 => {
            let lease = given.intent(rng);
            *about = format!("not ordered {lease:?}");
            text(store.not_ordered(lease).await?)
        }
        20..22 => {
            let intent = intent(rng);
            *about = format!("abandon {intent}");
            text(store.abandon(intent).await?)
        }
        22..38 => {
            let mut jobs: Vec<_> = (0..rng.usize(1..4)).map(|_| expected(rng, *now)).collect();
            // A store for many nodes takes the jobs of a call in this order, and numbers new ones by it.
            jobs.sort_by(|one, other| one.job_id.as_str().cmp(other.job_id.as_str()));
            *about = format!("{jobs:?}");
            text(store.expect(jobs).await?)
        }
        38..58 => {
            let bucket = BucketSettings { per_minute: 60, burst: 6, key: key(rng) };
            let claim = PollClaim { limit: limit(rng), lease: pause(rng), bucket };
            *about = format!("{claim:?}");
            Answer::Polls(store.claim_polls(claim).await?)
        }
        58..76 => {
            let (lease, outcome, key) = (given.poll(rng), polled(rng), key(rng));
            *about = format!("settle {lease:?} {outcome:?} {key}");
            text(store.settle_poll(lease, outcome, key).await?)
        }
        76 => {
            let lease = given.intent(rng);
            *about = format!("outcome lost {lease:?}");
            text(store.outcome_lost(lease).await?)
        }
        77 => {
            let event = match rng.u32(..7) {
                0 => BucketEvent::RateLimited { retry_after: pause(rng) },
                1 => BucketEvent::KeyRefused { key: key(rng) },
                2 => BucketEvent::KeyAccepted { key: key(rng) },
                3 => BucketEvent::Unavailable { retry_after: pause(rng) },
                _ => BucketEvent::Resumed,
            };
            *about = format!("{event:?}");
            text(store.report(event).await?)
        }
        78 => text(store.bucket().await?),
        79..82 => {
            let job = job(rng);
            *about = format!("show {job}");
            text(store.job(job).await?)
        }
        82..85 => {
            let filter = JobFilter {
                state: rng.bool().then(|| job_state(rng)),
                intent: (rng.u32(..4) == 0).then(|| intent(rng).into()),
                expected_before: (rng.u32(..4) == 0).then(|| *now - pause(rng)),
                after: given.first + rng.i64(0..12),
                limit: rng.u32(1..4),
                ..JobFilter::default()
            };
            *about = format!("{filter:?}");
            text(store.jobs(filter).await?)
        }
        85 => {
            let intent = intent(rng);
            *about = format!("show {intent}");
            text(store.intent(intent).await?)
        }
        86..88 => {
            let state = rng.bool().then(|| intent_state(rng));
            let (after, limit) = (given.first + rng.i64(0..12), rng.u32(1..4));
            *about = format!("list intents {state:?} {after} {limit}");
            text(store.intents(state, after, limit).await?)
        }
        88..92 => text(store.ledger_counts().await?),
        92..95 => {
            let (before, limit) = (*now - pause(rng), limit(rng));
            *about = format!("prune the ledger {before:?} {limit}");
            text(store.prune_ledger(before, limit).await?)
        }
        _ => {
            let line = match rng.u32(..5) {
                0..2 => job_line(imported_job(rng, *now)),
                2..4 => intent_line(imported_intent(rng, *now)),
                _ => imported_bucket(rng, *now),
            };
            *about = format!("{line:?}");
            text(store.import(vec![line]).await?)
        }
    })
}

fn intent(rng: &mut Rng) -> &'static str {
    INTENTS[rng.usize(..INTENTS.len())]
}

fn key(rng: &mut Rng) -> u64 {
    rng.u64(..8) / 7
}

fn limit(rng: &mut Rng) -> u32 {
    if rng.bool() { rng.u32(1..4) } else { 100 }
}

fn job_state(rng: &mut Rng) -> JobState {
    JobState::ALL[rng.usize(..JobState::ALL.len())]
}

fn intent_state(rng: &mut Rng) -> IntentState {
    IntentState::ALL[rng.usize(..IntentState::ALL.len())]
}

fn expected(rng: &mut Rng, now: SystemTime) -> Expect {
    let (job_id, reason) = (job(rng), rng.u32(..4));
    let intent = rng.bool().then(|| rng.usize(..INTENTS.len()));
    Expect {
        job_id,
        reason: match reason {
            0 => Reason::Backfill,
            1 => Reason::Refused { code: CODES[0].into() },
            2 => Reason::Ordered,
            _ => Reason::OrderedElsewhere,
        },
        key: intent.map(|intent| u64::try_from(intent).unwrap_or_default()),
        intent: intent.map(|intent| INTENTS[intent].into()),
        at: now + pause(rng),
    }
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
    let body = BODIES[rng.usize(..BODIES.len())];
    ApiAnswer { target: "api".into(), digest: Digest::of(body.as_bytes()), bytes: body.into() }
}

fn imported_job(rng: &mut Rng, now: SystemTime) -> ExpectedJob {
    let (job_id, state, then) = (job(rng), job_state(rng), now - pause(rng));
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

fn imported_intent(rng: &mut Rng, now: SystemTime) -> Intent {
    let (name, state, created_at) = (intent(rng), intent_state(rng), now - pause(rng));
    let row = IntentRow::new(Duration::from_secs(60), created_at);
    let mut intent = row.into_intent(1, name.into(), created_at);
    intent.state = state;
    intent.job_id = (state == IntentState::Ordered).then(|| jobs()[0].clone());
    intent.topic = Topic::of("boots");
    intent
}

fn imported_bucket(rng: &mut Rng, now: SystemTime) -> ExportLine {
    // As in JSON, times are whole milliseconds.
    let rounded = |time| from_millis(to_millis(time));
    let (full_at, since) = (rounded(now + pause(rng)), rounded(now - pause(rng)));
    let pause = Pause::new(since, since + Duration::from_millis(2), PauseReason::RateLimited);
    ExportLine::Bucket(Bucket { full_at, pause: Some(pause), key_refused_at: None })
}

/// Removes every job and every intent, so that nothing is left for the next sequence, and returns how many entries each job had.
pub(crate) async fn clear(store: &dyn Store) -> Vec<Vec<u64>> {
    let cleared = async {
        let mut erased = Vec::new();
        for intent in INTENTS {
            store.ordered(intent, jobs()[0].clone(), store.now(), 1).await?;
        }
        for job in jobs() {
            erased.push(store.erase(vec![job]).await?);
        }
        store.prune_ledger(store.now() + Duration::from_secs(1), 1_000).await?;
        store.report(BucketEvent::Resumed).await?;
        Ok::<_, Error>(erased)
    };
    cleared.await.expect("the store can be emptied")
}
