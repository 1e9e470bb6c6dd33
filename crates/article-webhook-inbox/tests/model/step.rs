//! Which calls a sequence makes, and their arguments.

use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, EntryKey, Error, Failure, Filter, ListOrder, Page, Prune, Reason, Source, State,
    cause_group,
    store::{Arrival, Claim, Events, Expect, ExportLine, Outcome, Quarantine, Row},
};
use article_webhook_inbox_contract::lines::entry_line;
use fastrand::Rng;

use crate::{
    ledger,
    pair::{Answer, Call, text, without_nodes},
};

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

/// What a body in quarantine takes of the budget at least.
const MIN_COST: u64 = 64 << 10;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
pub(crate) async fn call(call: &mut Call<'_>) -> Result<Answer, Error> {
    if call.rng.u32(..5) < 2 {
        return ledger::call(call).await;
    }
    let Call { store, rng, given, now, about } = call;
    let choice = rng.u32(12..100);
    *about = format!("call {choice}");
    Ok(match choice {
        12..20 => {
            let quarantine = quarantined(rng, *now);
            *about = format!("{quarantine:?}");
            text(store.quarantine(quarantine).await?)
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
            let arrival = Arrival { source, bytes, ..sent };
            *about = format!("{arrival:?}");
            text(store.record(arrival).await?)
        }
        36..52 => {
            let limit = if rng.bool() { rng.u32(1..3) } else { 100 };
            let claim = Claim {
                limit,
                lease: pause(rng).min(DAY),
                attempts: rng.u32(1..7),
                running: rng.u32(..3) / 2,
                events: if rng.bool() { Events::All } else { Events::ExceptFailures },
                retries_first: rng.u32(..4) == 0,
            };
            *about = format!("{claim:?}");
            Answer::Claims(store.claim(claim).await?)
        }
        52..55 => {
            let leases: Vec<_> = (0..rng.usize(..4)).map(|_| given.lease(rng)).collect();
            let by = pause(rng);
            *about = format!("extend {leases:?} by {by:?}");
            let mut held = store.extend(&leases, by).await?;
            // Their order is not defined.
            held.sort_unstable_by_key(|lease| (lease.id, lease.fence));
            text(held)
        }
        55..78 => {
            let (lease, outcome) = (given.lease(rng), ending(rng));
            *about = format!("settle {lease:?} {outcome:?}");
            text(store.settle(lease, outcome).await?)
        }
        78..82 => {
            let limit = if rng.bool() { rng.u32(1..3) } else { 100 };
            // Entries must outlive their bodies, or the removal of bodies has no visible effect.
            let entries_ago = if rng.bool() { DAY * 40 } else { pause(rng) };
            let prune = Prune {
                bodies_before: *now - pause(rng),
                entries_before: *now - entries_ago,
                dead_before: rng.bool().then(|| *now - pause(rng)),
                limit,
                ..Prune::default()
            };
            *about = format!("{prune:?}");
            text(store.prune(prune).await?)
        }
        82 => text(store.counts().await?),
        83 => text(store.due_since().await?),
        84..86 => {
            let filter = filter(rng, given.first, *now);
            *about = format!("list {filter:?}");
            let page = store.list(filter).await?;
            Answer::Page(Page::new(without_nodes(page.items), page.next))
        }
        86..88 => {
            let key = any_key(rng);
            *about = format!("show {key}");
            Answer::Shown(store.show(key).await?.map(|(mut entry, bodies)| {
                entry.node = None;
                Box::new((entry, bodies))
            }))
        }
        88..91 => {
            let (key, from) = (any_key(rng), rng.bool().then(|| state(rng)));
            *about = format!("requeue {key} from {from:?}");
            text(store.requeue(vec![(key, from)], REQUEUED_AT).await?)
        }
        91..93 => {
            let key = any_key(rng);
            *about = format!("discard {key}");
            text(store.discard(vec![key], "not wanted".into()).await?)
        }
        93..95 => {
            let job = job(rng);
            *about = format!("erase {job}");
            text(store.erase(vec![job]).await?)
        }
        95..98 => {
            let line = imported(rng, *now);
            *about = format!("{line:?}");
            text(store.import(vec![line]).await?)
        }
        98 => text(store.check().await?.is_empty()), // the sentences differ between stores
        _ => {
            store.probe().await?;
            Answer::Probed
        }
    })
}

/// A refused body, which was delivered if its job is expected, and otherwise polled.
fn quarantined(rng: &mut Rng, now: SystemTime) -> Quarantine {
    // Of what is polled, only answers about the article can be refused.
    let expected_after = (rng.u32(..4) > 0).then(|| pause(rng));
    let quarantined = quarantine(rng).quarantined().expect("it is that of a quarantine");
    let key = match expected_after {
        Some(_) => quarantined,
        None => EntryKey::article(quarantined.job_id),
    };
    let budgets = [0, MIN_COST - 1, MIN_COST, 2 * MIN_COST, 4 * MIN_COST, 8 * MIN_COST];
    // Half of the time an article, as a later version may read it.
    let body = if rng.bool() { rng.usize(6..BODIES.len()) } else { rng.usize(..BODIES.len()) };
    let intent = (rng.u32(..4) == 0).then(|| INTENTS[rng.usize(..INTENTS.len())]);
    // Without the intent, a delivery to the URL whose order is not known.
    let target = if intent.is_some() { URL } else { 0 };
    let intent = intent.filter(|_| expected_after.is_some());
    let source = if expected_after.is_some() { Source::Webhook } else { Source::Api };
    let arrival = Arrival { source, ..arrival(key, BODIES[body], (target, intent)) };
    let expect = expected_after.map(|after| Expect {
        reason: Reason::Refused { code: CODES[0].into() },
        intent: arrival.intent.clone(),
        ..Expect::job(arrival.key.job_id.clone(), now + after)
    });
    let budget = if rng.bool() { 256 << 20 } else { budgets[rng.usize(..6)] };
    Quarantine { arrival, cause: CODES[0].to_owned(), expect, statement: None, budget }
}

/// What arrives from the service.
fn arrival(key: EntryKey, body: &'static str, to: (usize, Option<&str>)) -> Arrival {
    let (target, intent) = (TARGETS[to.0].into(), to.1.map(Into::into));
    let (digest, bytes) = (Digest::of(body.as_bytes()), body.into());
    Arrival { key, source: Source::Webhook, target, intent, digest, bytes }
}

fn filter(rng: &mut Rng, first: i64, now: SystemTime) -> Filter {
    let mut filter = Filter {
        state: rng.bool().then(|| state(rng)),
        event: rng.bool().then(|| EVENTS[rng.usize(..EVENTS.len())].into()),
        job_id: (rng.u32(..4) == 0).then(|| job(rng)),
        target: (rng.u32(..4) == 0).then(|| TARGETS[rng.usize(..TARGETS.len())].into()),
        received_before: (rng.u32(..4) == 0).then(|| now - pause(rng)),
        after: first + rng.i64(0..12),
        order: if rng.bool() { ListOrder::OldestFirst } else { ListOrder::NewestFirst },
        limit: rng.u32(1..6),
        ..Filter::default()
    };
    match rng.u32(..6) {
        0 => filter.search = Some("JOB_1".into()),
        1 => filter.search = Some("No Netw".into()),
        2 => filter.cause = Some(cause_group("no network").into()),
        3 => filter.requeued_at = Some(REQUEUED_AT),
        4 => filter.received_since = Some(now),
        _ => {}
    }
    filter
}

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

/// An entry of another store, with bodies that all differ, and some failures, in some cases more than are kept.
fn imported(rng: &mut Rng, now: SystemTime) -> ExportLine {
    let key = any_key(rng);
    let state = match state(rng) {
        _ if key.is_quarantine() => State::Quarantined,
        State::Quarantined => State::Waiting,
        state => state,
    };
    let (then, attempts) = (now - pause(rng), rng.u32(..4));
    let mut row = Row {
        state,
        attempts,
        conflicts: attempts,
        ..Row::new(then + Duration::from_micros(1_500))
    };
    if rng.bool() {
        row.cause = Some("no network".into());
        let at = |attempt| then + Duration::from_micros(700) * attempt;
        let failure = |attempt| Failure::new(at(attempt), attempt, format!("no network {attempt}"));
        row.failures = (0..attempts * 4).map(failure).collect();
    }
    let mut bodies = BODIES;
    rng.shuffle(&mut bodies);
    let bodies = bodies[..rng.usize(1..=4)].iter().map(|&body| {
        let key = EntryKey::article(jobs()[0].clone());
        let mut body = arrival(key, body, (0, None)).into_body(then);
        match rng.u32(..5) {
            0 => body.bytes = None,
            1 => body.bytes = Some("flipped".into()),
            _ => {}
        }
        body
    });
    let first = ("default".into(), Source::Webhook, None);
    entry_line(row.into_entry(1, key, then, first, None), bodies.collect())
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
