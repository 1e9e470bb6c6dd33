use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, EntryKey, Filter, ListOrder, Source, State, cause_group,
    store::{Arrival, Claim, Events, Outcome},
};
use fastrand::Rng;

use crate::ledger_step::{self, LedgerStep};

/// One call, or a pause before the next. Steps refer to things by number, so that a sequence stays valid when steps are
/// taken out.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Advance(Duration),
    Record(Arrival),
    /// Keeps a refused body, which was delivered if its job is expected, and otherwise polled.
    Quarantine {
        arrival: Arrival,
        budget: u64,
        expected_after: Option<Duration>,
    },
    Claim(Claim),
    /// Leases by their age: 0 is the one that was claimed last.
    Extend {
        leases: Vec<usize>,
        by: Duration,
    },
    Settle {
        lease: usize,
        outcome: Outcome,
    },
    Prune {
        bodies_ago: Duration,
        entries_ago: Duration,
        dead_ago: Option<Duration>,
        limit: u32,
    },
    Counts,
    DueSince,
    /// The first id of the sequence is added to that of the filter.
    List {
        filter: Filter,
        received_ago: Option<Duration>,
        since_now: bool,
    },
    Show(EntryKey),
    Requeue {
        key: EntryKey,
        from: Option<State>,
    },
    Discard(EntryKey),
    Erase(JobId),
    Import {
        key: EntryKey,
        state: State,
        attempts: u32,
        ago: Duration,
        bodies: Vec<(usize, Bytes)>,
        has_cause: bool,
    },
    Check,
    Probe,
    Ledger(LedgerStep),
}

/// The bytes of an imported body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bytes {
    Intact,
    Damaged,
    Removed,
}

/// The last is that of a failure.
const EVENTS: [&str; 3] = ["article.complete", "article.updated", "generation failed"];
/// The last three are articles: of `job_1`, with and without a status, and of `job_2`.
pub(crate) const BODIES: [&str; 9] = [
    "{}",
    "[]",
    "1",
    "\"a\"",
    "",
    "null",
    r#"{"job_id":"job_1","status":"complete","article":{"title":"","html":""}}"#,
    r#"{"job_id":"job_1","article":{"title":"","html":""}}"#,
    r#"{"job_id":"job_2","status":"complete","article":{"title":"","html":""}}"#,
];
/// The last is that of what came to the URL of an order.
const TARGETS: [&str; 3] = ["blog", "shop", "capability"];
/// The index of the target of what came to the URL of an order.
const URL: usize = TARGETS.len() - 1;
pub(crate) const INTENTS: [&str; 2] = ["draft", "live"];
pub(crate) const CODES: [&str; 2] = ["malformed_json", "body_too_large"];

/// What entries remember that were requeued.
pub(crate) const REQUEUED_AT: SystemTime = SystemTime::UNIX_EPOCH;

/// The steps of a seed.
pub(crate) fn sequence(seed: u64) -> Vec<Step> {
    let mut rng = Rng::with_seed(seed);
    let length = rng.usize(20..=50);
    (0..length).map(|_| step(&mut rng)).collect()
}

/// Every job that a sequence may name.
pub(crate) fn jobs() -> [JobId; 5] {
    ["job_1", "job_2", "JOB_2", "job_%", "job_é"].map(|id| id.parse().expect("a job id"))
}

/// Every key that a sequence may name.
pub(crate) fn keys() -> impl Iterator<Item = EntryKey> {
    jobs().into_iter().flat_map(|job_id| {
        EVENTS.map(|event| EntryKey { job_id: job_id.clone(), event: event.into() })
    })
}

/// The keys of all quarantines. A failure has none.
pub(crate) fn quarantines() -> impl Iterator<Item = EntryKey> {
    keys().filter(|key| !key.is_failure()).map(|key| key.quarantine())
}

/// Recording, claiming and settling are frequent, so that there are entries for the other calls.
fn step(rng: &mut Rng) -> Step {
    if rng.u32(..5) < 2 {
        return Step::Ledger(ledger_step::step(rng));
    }
    match rng.u32(..100) {
        0..12 => Step::Advance(pause(rng)),
        12..20 => {
            // Of what is polled, only answers about the article can be refused.
            let expected_after = (rng.u32(..4) > 0).then(|| pause(rng));
            let quarantined = quarantine(rng).quarantined().expect("it is that of a quarantine");
            let key = match expected_after {
                Some(_) => quarantined,
                None => EntryKey::article(quarantined.job_id),
            };
            let budgets = [0, MIN_COST - 1, MIN_COST, 2 * MIN_COST, 4 * MIN_COST, 8 * MIN_COST];
            // Half of the time an article, as a later version may read it.
            let body =
                if rng.bool() { rng.usize(6..BODIES.len()) } else { rng.usize(..BODIES.len()) };
            let intent = (rng.u32(..4) == 0).then(|| INTENTS[rng.usize(..INTENTS.len())]);
            // Without the intent, a delivery to the URL whose order is not known.
            let target = if intent.is_some() { URL } else { 0 };
            let intent = intent.filter(|_| expected_after.is_some());
            let source = if expected_after.is_some() { Source::Webhook } else { Source::Api };
            Step::Quarantine {
                arrival: Arrival { source, ..arrival(key, BODIES[body], (target, intent)) },
                budget: if rng.bool() { 256 << 20 } else { budgets[rng.usize(..6)] },
                expected_after,
            }
        }
        20..36 => {
            let intent = (rng.u32(..3) == 0).then(|| INTENTS[rng.usize(..INTENTS.len())]);
            let target = if intent.is_some() && rng.bool() { URL } else { rng.usize(..URL) };
            let body = rng.usize(..BODIES.len());
            let is_pushed = body.is_multiple_of(2) || target == URL;
            let source = if is_pushed { Source::Webhook } else { Source::Api };
            let sent = arrival(key(rng), BODIES[body], (target, intent));
            let is_damaged = rng.u32(..8) == 0;
            let bytes = if is_damaged { "flipped".into() } else { sent.bytes.clone() };
            Step::Record(Arrival { source, bytes, ..sent })
        }
        36..52 => {
            let limit = if rng.bool() { rng.u32(1..3) } else { 100 };
            Step::Claim(Claim {
                limit,
                lease: pause(rng).min(DAY),
                attempts: rng.u32(1..7),
                running: rng.u32(..3) / 2,
                events: if rng.bool() { Events::All } else { Events::ExceptFailures },
                retries_first: rng.u32(..4) == 0,
            })
        }
        52..55 => Step::Extend {
            leases: (0..rng.usize(..4)).map(|_| lease(rng)).collect(),
            by: pause(rng),
        },
        55..78 => Step::Settle { lease: lease(rng), outcome: ending(rng) },
        78..82 => {
            let limit = if rng.bool() { rng.u32(1..3) } else { 100 };
            // Entries must outlive their bodies, or the removal of bodies has no visible effect.
            let entries_ago = if rng.bool() { DAY * 40 } else { pause(rng) };
            let dead_ago = rng.bool().then(|| pause(rng));
            Step::Prune { bodies_ago: pause(rng), entries_ago, dead_ago, limit }
        }
        82 => Step::Counts,
        83 => Step::DueSince,
        84..86 => {
            let mut filter = Filter {
                state: rng.bool().then(|| state(rng)),
                event: rng.bool().then(|| EVENTS[rng.usize(..EVENTS.len())].into()),
                job_id: (rng.u32(..4) == 0).then(|| job(rng)),
                target: (rng.u32(..4) == 0).then(|| TARGETS[rng.usize(..TARGETS.len())].into()),
                after: rng.i64(..12),
                order: if rng.bool() { ListOrder::OldestFirst } else { ListOrder::NewestFirst },
                limit: rng.u32(1..6),
                ..Filter::default()
            };
            let more = rng.u32(..6);
            match more {
                0 => filter.search = Some("JOB_1".into()),
                1 => filter.search = Some("No Netw".into()),
                2 => filter.cause = Some(cause_group("no network").into()),
                3 => filter.requeued_at = Some(REQUEUED_AT),
                _ => {}
            }
            let received_ago = (rng.u32(..4) == 0).then(|| pause(rng));
            Step::List { filter, received_ago, since_now: more == 4 }
        }
        86..88 => Step::Show(any_key(rng)),
        88..91 => Step::Requeue { key: any_key(rng), from: rng.bool().then(|| state(rng)) },
        91..93 => Step::Discard(any_key(rng)),
        93..95 => Step::Erase(job(rng)),
        95..98 => {
            let key = any_key(rng);
            let state = match state(rng) {
                _ if key.is_quarantine() => State::Quarantined,
                State::Quarantined => State::Waiting,
                state => state,
            };
            let bodies = imported(rng);
            Step::Import {
                key,
                state,
                attempts: rng.u32(..4),
                ago: pause(rng),
                bodies,
                has_cause: rng.bool(),
            }
        }
        98 => Step::Check,
        _ => Step::Probe,
    }
}

/// What arrives from the service.
fn arrival(key: EntryKey, body: &'static str, to: (usize, Option<&str>)) -> Arrival {
    let (target, intent) = (TARGETS[to.0].into(), to.1.map(Into::into));
    let (digest, bytes) = (Digest::of(body.as_bytes()), body.into());
    Arrival { key, source: Source::Webhook, target, intent, digest, bytes }
}

/// What a body in quarantine takes of the budget at least.
const MIN_COST: u64 = 64 << 10;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// From zero and fractions of a millisecond to longer than anything is kept.
pub(crate) fn pause(rng: &mut Rng) -> Duration {
    match rng.u32(..10) {
        0 => Duration::ZERO,
        1 => Duration::from_nanos(rng.u64(..2_000_000)),
        2 => Duration::from_millis(rng.u64(..3)),
        3..6 => Duration::from_secs(rng.u64(1..5)),
        6..8 => Duration::from_millis(rng.u64(1_000..120_000)),
        8 => DAY * rng.u32(..10),
        _ => DAY * 40,
    }
}

/// The outcome of an attempt. The number of bodies that the worker saw goes up to the maximum of an entry.
fn ending(rng: &mut Rng) -> Outcome {
    let cause = String::from("no network");
    match rng.u32(..13) {
        0..3 => Outcome::Done,
        3..6 => Outcome::Retry { after: pause(rng), cause },
        6 => Outcome::Dead { cause },
        7 => Outcome::Unhandled { seen: rng.usize(..=4), cause },
        8 => Outcome::Corrupt { seen: rng.usize(..=4), cause },
        9 => Outcome::Unhandled { seen: 4, cause },
        10 => Outcome::Corrupt { seen: 4, cause },
        11 => Outcome::Snoozed { after: pause(rng) },
        _ => Outcome::Released,
    }
}

/// Bodies that all differ.
fn imported(rng: &mut Rng) -> Vec<(usize, Bytes)> {
    let mut bodies: Vec<_> = (0..BODIES.len()).collect();
    rng.shuffle(&mut bodies);
    bodies.truncate(rng.usize(1..=4));
    let bytes = [Bytes::Intact, Bytes::Intact, Bytes::Intact, Bytes::Damaged, Bytes::Removed];
    bodies.into_iter().map(|body| (body, bytes[rng.usize(..bytes.len())])).collect()
}

/// Mostly one of the latest leases, sometimes one that was lost long ago.
pub(crate) fn lease(rng: &mut Rng) -> usize {
    if rng.u32(..4) == 0 { rng.usize(..12) } else { rng.usize(..3) }
}

/// Half of the time one of two keys, so that many steps are about them.
fn key(rng: &mut Rng) -> EntryKey {
    let number = if rng.bool() { rng.usize(..2) } else { rng.usize(..15) };
    keys().nth(number).expect("there are fifteen keys")
}

/// That of an entry, or half of the time of a quarantine.
fn any_key(rng: &mut Rng) -> EntryKey {
    if rng.bool() { quarantine(rng) } else { key(rng) }
}

/// Half of the time that of one of two articles.
fn quarantine(rng: &mut Rng) -> EntryKey {
    let number = if rng.bool() { 2 * rng.usize(..2) } else { rng.usize(..10) };
    quarantines().nth(number).expect("there are ten quarantines")
}

pub(crate) fn job(rng: &mut Rng) -> JobId {
    jobs()[rng.usize(..5)].clone()
}

fn state(rng: &mut Rng) -> State {
    State::ALL[rng.usize(..State::ALL.len())]
}
