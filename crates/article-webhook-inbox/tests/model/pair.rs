use std::{
    collections::VecDeque,
    fmt::Debug,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Body, CauseCount, Clock, Counts, Entry, Error, ExpectedJob, Filter, HourCount, Intent,
    JobFilter, LedgerCounts, MemoryStore, Page,
    store::{Bucket, Claims, Intended, IntentLease, Lease, PollLease, Polls, Store},
};
use fastrand::Rng;

use crate::{
    ledger,
    step::{self, REQUEUED_AT, jobs, keys, quarantines},
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
    polls: VecDeque<PollLease>,
    intents: VecDeque<IntentLease>,
    /// The last id that was used before this sequence.
    pub(crate) first: i64,
}

impl Given {
    pub(crate) fn lease(&self, rng: &mut Rng) -> Lease {
        one_of(&self.leases, rng).unwrap_or(Lease { id: self.first + 1, fence: 1 })
    }

    pub(crate) fn poll(&self, rng: &mut Rng) -> PollLease {
        one_of(&self.polls, rng).unwrap_or(PollLease { id: self.first + 1, fence: 1 })
    }

    pub(crate) fn intent(&self, rng: &mut Rng) -> IntentLease {
        one_of(&self.intents, rng).unwrap_or(IntentLease { id: self.first + 1, fence: 1 })
    }
}

/// Mostly one of the latest leases, sometimes one that was lost long ago.
fn one_of<T: Copy>(leases: &VecDeque<T>, rng: &mut Rng) -> Option<T> {
    let age = if rng.u32(..4) == 0 { rng.usize(..12) } else { rng.usize(..3) };
    leases.get(age % leases.len().max(1)).copied()
}

/// A call of one store. Its random numbers choose the call and its arguments, and are the same for both stores.
pub(crate) struct Call<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) rng: Rng,
    pub(crate) given: &'a Given,
    pub(crate) now: SystemTime,
    /// What was called, with its arguments.
    pub(crate) about: String,
}

/// What a store answers to a step. What has no article and no topic, which `Debug` leaves out, is compared as text.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Claims(Claims),
    Page(Page<Entry>),
    Shown(Option<Box<(Entry, Vec<Body>)>>),
    Polls(Polls),
    Intended(Intended),
    Probed,
    Text(String),
}

pub(crate) fn text(answer: impl Debug) -> Answer {
    Answer::Text(format!("{answer:?}"))
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
    /// The steps, and both answers to the last.
    pub(crate) reported: String,
}

/// Fails if the stores differ after these steps.
fn compare<T: Debug + PartialEq>(steps: &[String], model: &T, store: &T) -> Result<(), Difference> {
    if model == store {
        return Ok(());
    }
    let shown = steps.join("\n");
    let reported = format!("{shown}\n\nthe stores differ\nmodel: {model:#?}\nstore: {store:#?}");
    Err(Difference { steps: steps.len(), reported })
}

impl Pair {
    pub(crate) fn fresh() -> Self {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let (subject, model) = (Subject::fresh(clock.clone()), MemoryStore::new(clock.clone()));
        Self { clock, model, subject, given: Given::default() }
    }

    /// Makes all steps, compares everything, and erases all jobs. Stops at the first difference.
    pub(crate) async fn run(&mut self, steps: &[u64]) -> Result<(), Difference> {
        self.given = Given { first: self.given.first, ..Given::default() };
        let mut made = Vec::new();
        for seed in steps {
            let mut rng = Rng::with_seed(*seed);
            if rng.u32(..14) == 0 {
                let by = step::pause(&mut rng);
                made.push(format!("the clock advances by {by:?}"));
                self.clock.advance(by);
                continue;
            }
            match self.answer(&rng, &mut made).await? {
                Answer::Probed => self.subject.probed(),
                Answer::Claims(claims) => {
                    let leases = claims.claimed.iter().map(|claimed| claimed.lease);
                    leases.for_each(|lease| self.given.leases.push_front(lease));
                }
                Answer::Polls(polls) => {
                    polls.polls.iter().for_each(|poll| self.given.polls.push_front(poll.lease));
                }
                Answer::Intended(Intended::Begun(lease)) => self.given.intents.push_front(lease),
                _ => {}
            }
        }
        let model = everything(&self.model).await;
        compare(&made, &model, &everything(self.subject.store()).await)?;
        let last = [model.listed.last().map(|it| it.id), model.jobs.last().map(|it| it.id)];
        self.given.first = last.into_iter().flatten().fold(self.given.first, i64::max);
        let erased = ledger::clear(&self.model).await;
        compare(&made, &erased, &ledger::clear(self.subject.store()).await)
    }

    /// What both stores answer to a step, which is added to those that were made.
    async fn answer(&self, rng: &Rng, made: &mut Vec<String>) -> Result<Answer, Difference> {
        let mut call = self.call(&self.model, rng);
        // Both run the same scripts, so that an error of a script would be the same.
        let model = step::call(&mut call).await.expect("memory does not fail");
        made.push(call.about);
        let failed = |error: Error| Answer::Text(error.to_string());
        let store = step::call(&mut self.call(self.subject.store(), rng)).await;
        compare(made, &model, &store.unwrap_or_else(failed))?;
        Ok(model)
    }

    fn call<'a>(&'a self, store: &'a dyn Store, rng: &Rng) -> Call<'a> {
        let (rng, now) = (rng.clone(), self.clock.now());
        Call { store, rng, given: &self.given, now, about: String::new() }
    }
}

/// The store in memory has none.
pub(crate) fn without_nodes(mut entries: Vec<Entry>) -> Vec<Entry> {
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
