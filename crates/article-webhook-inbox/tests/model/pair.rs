use std::{
    collections::VecDeque,
    fmt::Debug,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Body, CauseCount, Clock, Counts, Digest, Entry, EntryKey, Error, ExpectedJob, Failure, Filter,
    HourCount, Intent, JobFilter, LedgerCounts, MemoryStore, Page, Prune, Reason, Source,
    store::{
        Arrival, Bucket, Claims, Expect, Intended, IntentLease, Lease, PollLease, Polls,
        Quarantine, Row, Store,
    },
};
use article_webhook_inbox_contract::lines::entry_line;
use bytes::Bytes;

use crate::{
    ledger::{self, aged, text},
    step::{self, BODIES, CODES, REQUEUED_AT, Step, jobs, keys, quarantines},
    subject::Subject,
};

/// A store in memory and the one that is compared with it, on one clock. Both have had the same calls, so that even ids and
/// fences are the same.
pub(crate) struct Pair {
    clock: Clock,
    model: MemoryStore,
    subject: Subject,
    given: Given,
}

/// What a sequence has been given, the last first.
#[derive(Default)]
pub(crate) struct Given {
    leases: VecDeque<Lease>,
    pub(crate) polls: VecDeque<PollLease>,
    pub(crate) intents: VecDeque<IntentLease>,
    /// The last id that was used before this sequence.
    pub(crate) first: i64,
}

/// What a store answers to a step. What has no article and no topic, which `Debug` leaves out, is compared as text.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Claims(Claims),
    Page(Page<Entry>),
    Shown(Option<Box<(Entry, Vec<Body>)>>),
    Polls(Polls),
    Intended(Intended),
    Text(String),
}

/// The whole content of a store.
#[derive(Debug, PartialEq)]
struct Everything {
    entries: Vec<(Entry, Vec<Body>)>,
    listed: Vec<Entry>,
    counts: Counts,
    causes: [Vec<CauseCount>; 2],
    hours: Vec<HourCount>,
    due_since: Option<SystemTime>,
    jobs: Vec<ExpectedJob>,
    intents: Vec<Intent>,
    ledger: LedgerCounts,
    bucket: Bucket,
}

/// A difference between the two.
#[derive(Debug)]
pub(crate) struct Difference {
    /// After how many steps it appeared.
    pub(crate) steps: usize,
    /// The last step, and both answers.
    pub(crate) reported: String,
}

/// Fails if the stores differ about this, after so many steps.
fn compare<T: Debug + PartialEq>(
    (steps, about): (usize, String),
    model: &T,
    store: &T,
) -> Result<(), Difference> {
    let reported = || format!("{about}\nmodel: {model:#?}\nstore: {store:#?}");
    if model == store { Ok(()) } else { Err(Difference { steps, reported: reported() }) }
}

impl Pair {
    pub(crate) fn fresh() -> Self {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let (subject, model) = (Subject::fresh(clock.clone()), MemoryStore::new(clock.clone()));
        Self { clock, model, subject, given: Given::default() }
    }

    /// Makes all steps, compares everything, and erases all jobs. Stops at the first difference.
    pub(crate) async fn run(&mut self, steps: &[Step]) -> Result<(), Difference> {
        self.given = Given { first: self.given.first, ..Given::default() };
        for (number, step) in (1..).zip(steps) {
            match (step, self.answer(number, step).await?) {
                (Step::Advance(by), _) => self.clock.advance(*by),
                (Step::Probe, _) => self.subject.probed(),
                (_, Answer::Claims(claims)) => {
                    let leases = claims.claimed.iter().map(|claimed| claimed.lease);
                    leases.for_each(|lease| self.given.leases.push_front(lease));
                }
                (_, Answer::Polls(polls)) => {
                    polls.polls.iter().for_each(|poll| self.given.polls.push_front(poll.lease));
                }
                (_, Answer::Intended(Intended::Begun(lease))) => {
                    self.given.intents.push_front(lease);
                }
                _ => {}
            }
        }
        let end = (steps.len(), "at the end".to_owned());
        let model = everything(&self.model).await;
        compare(end, &model, &everything(self.subject.store()).await)?;
        let last = [model.listed.last().map(|it| it.id), model.jobs.last().map(|it| it.id)];
        self.given.first = last.into_iter().flatten().fold(self.given.first, i64::max);
        for job_id in jobs() {
            self.answer(steps.len(), &Step::Erase(job_id)).await?;
        }
        for store in [&self.model as &dyn Store, self.subject.store()] {
            ledger::clear(store, &jobs()).await.expect("the ledger can be emptied");
        }
        Ok(())
    }

    /// What both stores answer to a step, the last of so many.
    async fn answer(&self, steps: usize, step: &Step) -> Result<Answer, Difference> {
        // Both run the same scripts, so that an error of a script would be the same.
        let model = self.call(&self.model, step).await.expect("memory does not fail");
        let failed = |error: Error| Answer::Text(error.to_string());
        let store = self.call(self.subject.store(), step).await.unwrap_or_else(failed);
        compare((steps, format!("{step:?}")), &model, &store)?;
        Ok(model)
    }

    async fn call(&self, store: &dyn Store, step: &Step) -> Result<Answer, Error> {
        Ok(match step.clone() {
            Step::Advance(_) => text(()),
            Step::Record(arrival) => text(store.record(arrival).await?),
            Step::Quarantine { arrival, budget, expected_after } => {
                let expect = expected_after.map(|after| Expect {
                    reason: Reason::Refused { code: CODES[0].into() },
                    intent: arrival.intent.clone(),
                    ..Expect::job(arrival.key.job_id.clone(), self.clock.now() + after)
                });
                let cause = CODES[0].to_owned();
                let quarantine = Quarantine { arrival, cause, expect, statement: None, budget };
                text(store.quarantine(quarantine).await?)
            }
            Step::Claim(claim) => Answer::Claims(store.claim(claim).await?),
            Step::Extend { leases, by } => {
                let leases: Vec<_> = leases.into_iter().map(|age| self.lease(age)).collect();
                let mut held = store.extend(&leases, by).await?;
                // Their order is not defined.
                held.sort_unstable_by_key(|lease| (lease.id, lease.fence));
                text(held)
            }
            Step::Settle { lease, outcome } => {
                text(store.settle(self.lease(lease), outcome).await?)
            }
            Step::Prune { bodies_ago, entries_ago, dead_ago, limit } => {
                let now = self.clock.now();
                let (bodies_before, entries_before) = (now - bodies_ago, now - entries_ago);
                let dead_before = dead_ago.map(|ago| now - ago);
                let prune =
                    Prune { bodies_before, entries_before, dead_before, limit, ..Prune::default() };
                text(store.prune(prune).await?)
            }
            Step::Counts => text(store.counts().await?),
            Step::DueSince => text(store.due_since().await?),
            Step::List { filter, received_ago, since_now } => {
                let now = self.clock.now();
                let filter = Filter {
                    after: self.given.first + filter.after,
                    received_before: received_ago.map(|ago| now - ago),
                    received_since: since_now.then_some(now),
                    ..filter
                };
                let page = store.list(filter).await?;
                Answer::Page(Page::new(without_nodes(page.items), page.next))
            }
            Step::Show(key) => Answer::Shown(store.show(key).await?.map(|(mut entry, bodies)| {
                entry.node = None;
                Box::new((entry, bodies))
            })),
            Step::Requeue { key, from } => {
                text(store.requeue(vec![(key, from)], REQUEUED_AT).await?)
            }
            Step::Discard(key) => text(store.discard(vec![key], "not wanted".into()).await?),
            Step::Erase(job_id) => text(store.erase(vec![job_id]).await?),
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
                text(store.import(vec![entry_line(entry, bodies)]).await?)
            }
            // The sentences differ between stores.
            Step::Check => text(store.check().await?.is_empty()),
            Step::Probe => text(store.probe().await?),
            Step::Ledger(step) => {
                let scene = (&self.given, self.clock.now());
                ledger::call(store, scene, &step).await?
            }
        })
    }

    fn lease(&self, age: usize) -> Lease {
        aged(&self.given.leases, age, Lease { id: self.given.first + 1, fence: 1 })
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

/// The store in memory has none.
fn without_nodes(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.iter_mut().for_each(|entry| entry.node = None);
    entries
}

async fn everything(store: &dyn Store) -> Everything {
    let mut entries = Vec::new();
    for key in keys().chain(quarantines()) {
        let shown = store.show(key).await.expect("an entry can be shown");
        entries.extend(shown.map(|(mut entry, bodies)| {
            entry.node = None;
            (entry, bodies)
        }));
    }
    let filter = Filter { limit: 1_000, ..Filter::default() };
    let listed = store.list(filter).await.expect("entries can be listed").items;
    let of_jobs = store.entries_of(jobs().to_vec()).await;
    let mut of_jobs = of_jobs.expect("the entries of jobs can be read");
    of_jobs.sort_by_key(|entry| entry.id);
    assert_eq!(of_jobs, listed);
    let causes = async |at| store.causes(at).await.expect("causes can be counted");
    let filter = JobFilter { limit: 1_000, ..JobFilter::default() };
    Everything {
        causes: [causes(None).await, causes(Some(REQUEUED_AT)).await],
        hours: store.hours(SystemTime::UNIX_EPOCH).await.expect("hours can be counted"),
        entries,
        listed: without_nodes(listed),
        counts: store.counts().await.expect("entries can be counted"),
        due_since: store.due_since().await.expect("what is due is known"),
        jobs: store.jobs(filter).await.expect("jobs can be listed").items,
        intents: store.intents(None, 0, 1_000).await.expect("intents can be listed").items,
        ledger: store.ledger_counts().await.expect("jobs can be counted"),
        bucket: store.bucket().await.expect("the bucket can be read"),
    }
}
