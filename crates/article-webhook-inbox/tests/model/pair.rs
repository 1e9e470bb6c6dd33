use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Body, Clock, Digest, Entry, EntryKey, Error, Failure, Filter, Prune, Reason, Source,
    cause_group,
    store::{Arrival, Claim, Expect, Lease, Outcome, Quarantine, Row, Store},
};
use article_webhook_inbox_contract::lines::entry_line;
use bytes::Bytes;

use crate::{
    answer::{Answer, Everything},
    ledger::{self, Given},
    reference::Reference,
    step::{
        self, BODIES, CODES, EVENTS, Ending, INTENTS, Step, TARGETS, Text, URL, jobs, keys,
        quarantines,
    },
    subject::Subject,
};

/// The model and the store that is compared with it, on one clock. Both have had the same calls, so that even ids and
/// fences are the same.
pub(crate) struct Pair {
    clock: Clock,
    model: Reference,
    subject: Subject,
    /// The last id that was used before this sequence.
    first: i64,
    /// All leases of this sequence, the last claimed first.
    leases: VecDeque<Lease>,
    given: Given,
}

/// A difference between the two.
#[derive(Debug)]
pub(crate) struct Difference {
    /// After how many steps it appeared.
    pub(crate) steps: usize,
    /// The last step, and both answers.
    pub(crate) reported: String,
}

impl Pair {
    pub(crate) fn fresh() -> Self {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let (subject, model) = (Subject::fresh(clock.clone()), Reference::new(clock.clone()));
        let (leases, given) = (VecDeque::new(), Given::default());
        Self { clock, model, subject, first: 0, leases, given }
    }

    /// Makes all steps, compares everything, and erases all jobs. Stops at the first difference.
    pub(crate) async fn run(&mut self, steps: &[Step]) -> Result<(), Difference> {
        self.leases.clear();
        for (number, step) in steps.iter().enumerate() {
            if let Step::Advance(by) = step {
                self.clock.advance(*by);
                continue;
            }
            let expected = self.answer(&self.model, step).await;
            let answer = self.answer(self.subject.store(), step).await;
            if answer != expected {
                let reported = format!("{step:?}\nmodel: {expected:#?}\nstore: {answer:#?}");
                return Err(Difference { steps: number + 1, reported });
            }
            if let Step::Probe = step {
                self.subject.probed();
            }
            match expected {
                Answer::Claims(claims) => {
                    claims.claimed.iter().for_each(|claimed| self.leases.push_front(claimed.lease));
                }
                Answer::Ledger(answer) => self.given.note(&answer),
                _ => {}
            }
        }
        let (expected, everything) =
            (everything(&self.model).await, everything(self.subject.store()).await);
        if everything != expected {
            let reported = format!("at the end\nmodel: {expected:#?}\nstore: {everything:#?}");
            return Err(Difference { steps: steps.len(), reported });
        }
        self.first = expected.ids.last().copied().unwrap_or(self.first).max(self.first);
        self.given = Given::after(&expected.ledger, &self.given);
        for job_id in jobs() {
            let expected = self.answer(&self.model, &Step::Erase(job_id.clone())).await;
            let answer = self.answer(self.subject.store(), &Step::Erase(job_id.clone())).await;
            if answer != expected {
                let reported = format!("erasing {job_id}\nmodel: {expected:?}\nstore: {answer:?}");
                return Err(Difference { steps: steps.len(), reported });
            }
        }
        for store in [&self.model as &dyn Store, self.subject.store()] {
            ledger::clear(store, &jobs()).await.expect("the ledger can be emptied");
        }
        Ok(())
    }

    async fn answer(&self, store: &dyn Store, step: &Step) -> Answer {
        self.call(store, step).await.unwrap_or_else(Answer::from)
    }

    async fn call(&self, store: &dyn Store, step: &Step) -> Result<Answer, Error> {
        Ok(match step.clone() {
            Step::Advance(_) => Answer::Nothing,
            Step::Record { key, body, is_damaged, target, intent } => {
                let sent = BODIES[body].as_bytes();
                let arrival = Arrival {
                    key,
                    source: if body % 2 == 0 || target == URL {
                        Source::Webhook
                    } else {
                        Source::Api
                    },
                    target: TARGETS[target].into(),
                    intent: intent.map(|intent| INTENTS[intent].into()),
                    digest: Digest::of(sent),
                    bytes: Bytes::from_static(if is_damaged { b"flipped" } else { sent }),
                };
                Answer::Recorded(store.record(arrival).await?)
            }
            Step::Quarantine { key, body, intent, budget, expected_after } => {
                let (bytes, intent) =
                    (BODIES[body].as_bytes(), intent.map(|it| INTENTS[it].into()));
                let expect = expected_after.map(|after| Expect {
                    reason: Reason::Refused { code: CODES[0].into() },
                    intent: intent.clone(),
                    ..Expect::job(key.job_id.clone(), self.clock.now() + after)
                });
                let arrival = Arrival {
                    key,
                    source: if expect.is_some() { Source::Webhook } else { Source::Api },
                    // Without the intent, a delivery to the URL whose order is not known.
                    target: TARGETS[if intent.is_some() { URL } else { 0 }].into(),
                    intent: intent.filter(|_| expect.is_some()),
                    digest: Digest::of(bytes),
                    bytes: Bytes::from_static(bytes),
                };
                let cause = CODES[0].to_owned();
                let quarantine = Quarantine { arrival, cause, expect, statement: None, budget };
                Answer::Quarantined(store.quarantine(quarantine).await?)
            }
            Step::Claim { limit, lease, attempts, running, events, retries_first } => {
                let claim = Claim { limit, lease, attempts, running, events, retries_first };
                Answer::Claims(store.claim(claim).await?)
            }
            Step::Extend { leases, by } => {
                let leases: Vec<_> = leases.into_iter().map(|age| self.lease(age)).collect();
                let mut held = store.extend(&leases, by).await?;
                // Their order is not defined.
                held.sort_unstable_by_key(|lease| (lease.id, lease.fence));
                Answer::Leases(held)
            }
            Step::Settle { lease, outcome } => {
                Answer::Settled(store.settle(self.lease(lease), settled_as(&outcome)).await?)
            }
            Step::Prune { bodies_ago, entries_ago, dead_ago, limit } => {
                let now = self.clock.now();
                let (bodies_before, entries_before) = (now - bodies_ago, now - entries_ago);
                let dead_before = dead_ago.map(|ago| now - ago);
                let prune =
                    Prune { bodies_before, entries_before, dead_before, limit, ..Prune::default() };
                Answer::Pruned(store.prune(prune).await?)
            }
            Step::Counts => Answer::Counts(store.counts().await?),
            Step::DueSince => Answer::Since(store.due_since().await?),
            Step::List {
                state,
                event,
                job: job_id,
                target,
                received_ago,
                text,
                after,
                order,
                limit,
            } => {
                let (event, after) = (event.map(|event| EVENTS[event].into()), self.first + after);
                let target = target.map(|target| TARGETS[target].into());
                let received_before = received_ago.map(|ago| self.clock.now() - ago);
                let filter = Filter {
                    state,
                    event,
                    job_id,
                    target,
                    received_before,
                    received_since: (text == Text::Since).then(|| self.clock.now()),
                    cause: (text == Text::Cause).then(|| cause_group("no network").into()),
                    requeued_at: (text == Text::Requeued).then_some(REQUEUED_AT),
                    search: match text {
                        Text::Job => Some("JOB_1".into()),
                        Text::Search => Some("No Netw".into()),
                        _ => None,
                    },
                    after,
                    order,
                    limit,
                    ..Filter::default()
                };
                let page = store.list(filter).await?;
                Answer::Page({
                    let mut page = page;
                    page.items = without_nodes(page.items);
                    page
                })
            }
            Step::Show(key) => Answer::Shown(store.show(key).await?.map(|(entry, bodies)| {
                Box::new((
                    {
                        let mut entry = entry;
                        entry.node = None;
                        entry
                    },
                    bodies,
                ))
            })),
            Step::Requeue { key, from } => {
                Answer::Changed(store.requeue(vec![(key, from)], REQUEUED_AT).await?[0])
            }
            Step::Discard(key) => {
                Answer::Changed(store.discard(vec![key], "not wanted".into()).await?[0])
            }
            Step::Erase(job_id) => Answer::Erased(store.erase(vec![job_id]).await?[0]),
            Step::Import { key, state, attempts, ago, bodies, has_cause } => {
                let then = self.clock.now() - ago;
                let row = Row {
                    state,
                    attempts,
                    conflicts: attempts,
                    cause: has_cause.then(|| "no network".into()),
                    failures: if has_cause { failures(then, attempts) } else { Vec::new() },
                    ..Row::new(then + Duration::from_micros(1_500))
                };
                let first = ("default".into(), Source::Webhook, None);
                let entry = row.into_entry(1, key, then, first, None);
                let bodies =
                    bodies.into_iter().map(|(body, bytes)| imported(then, body, bytes)).collect();
                Answer::Changed(store.import(vec![entry_line(entry, bodies)]).await?.added == 1)
            }
            Step::Check => Answer::Damaged(!store.check().await?.is_empty()),
            Step::Probe => store.probe().await.map(|()| Answer::Nothing)?,
            Step::Ledger(step) => {
                let scene = (&self.given, self.clock.now());
                Answer::Ledger(ledger::call(store, scene, &step).await?)
            }
        })
    }

    /// The lease of that age; before the first claim, one that does not exist.
    fn lease(&self, age: usize) -> Lease {
        match self.leases.len() {
            0 => Lease { id: self.first + 1, fence: 1 },
            count => self.leases[age % count],
        }
    }
}

/// What entries remember that were requeued.
const REQUEUED_AT: SystemTime = SystemTime::UNIX_EPOCH;

fn settled_as(ending: &Ending) -> Outcome {
    let cause = String::from("no network");
    match *ending {
        Ending::Done => Outcome::Done,
        Ending::Retry(after) => Outcome::Retry { after, cause },
        Ending::Dead => Outcome::Dead { cause },
        Ending::Unhandled(seen) => Outcome::Unhandled { seen, cause },
        Ending::Corrupt(seen) => Outcome::Corrupt { seen, cause },
        Ending::Released => Outcome::Released,
        Ending::Snoozed(after) => Outcome::Snoozed { after },
    }
}

/// Some failures, in some cases more than are kept.
fn failures(then: SystemTime, attempts: u32) -> Vec<Failure> {
    let failure = |attempt| {
        Failure::new(
            then + Duration::from_micros(700) * attempt,
            attempt,
            format!("no network {attempt}"),
        )
    };
    (0..attempts * 4).map(failure).collect()
}

fn imported(received_at: SystemTime, body: usize, bytes: step::Bytes) -> Body {
    let sent = BODIES[body].as_bytes();
    let sent = Arrival {
        key: EntryKey::article("job_1".parse().expect("a job id")),
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest: Digest::of(sent),
        bytes: Bytes::from_static(sent),
    };
    let mut body = sent.into_body(received_at);
    match bytes {
        step::Bytes::Intact => {}
        step::Bytes::Damaged => body.bytes = Some(Bytes::from_static(b"flipped")),
        step::Bytes::Removed => body.bytes = None,
    }
    body
}

/// The reference has none.
fn without_nodes(entries: Vec<Entry>) -> Vec<Entry> {
    entries
        .into_iter()
        .map(|mut entry| {
            entry.node = None;
            entry
        })
        .collect()
}

async fn everything(store: &dyn Store) -> Everything {
    let mut entries = Vec::new();
    for key in keys().chain(quarantines()) {
        let shown = store.show(key).await.expect("an entry can be shown");
        entries.extend(shown.map(|(entry, bodies)| {
            (
                {
                    let mut entry = entry;
                    entry.node = None;
                    entry
                },
                bodies,
            )
        }));
    }
    let filter = Filter { limit: 1_000, ..Filter::default() };
    let listed = store.list(filter).await.expect("entries can be listed").items;
    let of_jobs = store.entries_of(jobs().to_vec()).await;
    let mut of_jobs = of_jobs.expect("the entries of jobs can be read");
    of_jobs.sort_by_key(|entry| entry.id);
    assert_eq!(of_jobs, listed);
    let listed = without_nodes(listed);
    let causes = async |at| store.causes(at).await.expect("causes can be counted");
    Everything {
        causes: [causes(None).await, causes(Some(REQUEUED_AT)).await],
        hours: store.hours(SystemTime::UNIX_EPOCH).await.expect("hours can be counted"),
        ids: entries.iter().map(|(entry, _)| entry.id).collect(),
        entries,
        listed,
        counts: store.counts().await.expect("entries can be counted"),
        due_since: store.due_since().await.expect("what is due is known"),
        ledger: ledger::Everything::of(store).await.expect("the ledger can be read"),
    }
}
