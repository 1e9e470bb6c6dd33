//! Opens a damaged database, works on it to the end, and notes what happened.

use std::{
    collections::BTreeMap,
    panic,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use article_webhook::Event;
use article_webhook_inbox::{
    Body, Clock, Digest, Entry, Error, Filter, Inbox, JobFilter, Prune, SqliteSettings,
    SqliteStore, State,
    store::{PollClaim, PollOutcome, Recorded, Store},
};

use super::{
    base::{self, Base, Files},
    story::{BUCKET, LATER, NEW, START, arrival, article},
};

/// An entry with its bodies, of which only the digests are kept.
pub(super) type Shown = (Entry, Vec<Body>);

/// What happened to one copy.
#[derive(Debug, Default, Clone)]
pub(super) struct Observed {
    /// Why it was not opened, or not a second time.
    pub(super) refused: Vec<String>,
    /// Calls that failed because of damage, with their errors.
    pub(super) met: Vec<String>,
    /// Calls that failed for another reason.
    pub(super) failed: Vec<String>,
    /// What was said about damage.
    pub(super) reported: Vec<String>,
    /// All entries after the start, and at the end.
    pub(super) before: Vec<Shown>,
    pub(super) after: Vec<Shown>,
    /// The jobs that handlers were called for, with the digests of the bodies.
    pub(super) calls: Vec<(String, String, Digest)>,
    /// The old jobs that were delivered again.
    pub(super) again: Vec<String>,
    /// The states of the jobs and of the intents at the end.
    pub(super) ledger: BTreeMap<String, String>,
    pub(super) panics: usize,
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts the panics of all threads from now on.
pub(super) fn count_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(info);
    }));
}

/// What happens to a base without damage.
pub(super) fn undamaged(base: &Base) -> Observed {
    let observed = run(base, &base.files, 0);
    let Observed { refused, met, failed, .. } = &observed;
    assert!(refused.is_empty() && met.is_empty() && failed.is_empty(), "{observed:#?}");
    let is_reported = |reported: &&String| !is_corrupt_by_story(reported);
    assert_eq!(observed.reported.iter().find(is_reported), None);
    let open = |(entry, _): &&Shown| matches!(entry.state, State::Waiting | State::Leased);
    let late = observed.after.iter().filter(open).count();
    assert!(late <= 2 && observed.calls.len() > 15, "{observed:#?}");
    observed
}

/// Tries these files. `number` chooses the old delivery that is repeated.
pub(super) fn run(base: &Base, files: &Files, number: usize) -> Observed {
    let folder = base::folder();
    let path = files.write(folder.path());
    let panics = PANICS.load(Ordering::Relaxed);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut trial = Trial { observed: Observed::default() };
    let in_time =
        async { tokio::time::timeout(TOO_LONG, trial.both_runs(base, &path, number)).await };
    if runtime.block_on(in_time).is_err() {
        trial.observed.failed.push("hangs".into());
    }
    runtime.shutdown_background();
    trial.observed.panics = PANICS.load(Ordering::Relaxed) - panics;
    trial.observed
}

/// A worker that calls no handler for this long, although entries are due, is stuck. On a busy machine it may get no
/// processor for seconds.
const STUCK: Duration = Duration::from_secs(10);

/// A spot that takes longer than this hangs.
const TOO_LONG: Duration = Duration::from_secs(60);

/// In which order the bodies of a job are delivered again.
#[derive(Debug, Clone, Copy)]
enum Order {
    LastFirst,
    FirstFirst,
}

struct Trial {
    observed: Observed,
}

impl Trial {
    async fn both_runs(&mut self, base: &Base, path: &Path, number: usize) {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + LATER);
        let open = || SqliteStore::open_with(path, SqliteSettings::default().clock(clock.clone()));
        let store = match open() {
            Ok(store) => store,
            Err(error) => {
                self.observed.refused.push(error.to_string());
                return;
            }
        };
        let inbox = Inbox::new(store.clone());
        self.look(&inbox, &store).await;
        self.observed.before = self.list(&store).await;
        clock.advance(Duration::from_secs(60));
        self.work(&inbox, &store).await;
        self.prune(&store).await;

        let new = arrival(NEW, &Event::ArticleComplete, article(NEW, 700));
        let recorded = store.record(new).await;
        let recorded = self.ok("record of a new delivery", recorded);
        if recorded.is_some_and(|recorded| recorded != Recorded::Stored) {
            self.observed.failed.push(format!("a new delivery is {recorded:?}"));
        }
        // An entry with several bodies is repaired by a delivery of the damaged one, if a worker has seen it since the
        // delivery of another. So the last of them comes first, and then the first.
        for order in [Order::LastFirst, Order::FirstFirst] {
            self.repeat(base, &store, number, order).await;
            self.work(&inbox, &store).await;
        }
        self.look(&inbox, &store).await;
        drop(inbox);
        let closed = store.close().await;
        self.ok("close", closed);
        drop(store);

        match open() {
            Ok(store) => {
                let inbox = Inbox::new(store.clone());
                self.work(&inbox, &store).await;
                self.observed.after = self.list(&store).await;
                self.look(&inbox, &store).await;
            }
            Err(error) => self.observed.refused.push(error.to_string()),
        }
    }

    /// Delivers one old job again, and each that is corrupt because of the damage.
    async fn repeat(&mut self, base: &Base, store: &SqliteStore, number: usize, order: Order) {
        let mut jobs: Vec<_> = base.sent.keys().filter(|job| !is_corrupt_by_story(job)).collect();
        jobs.sort();
        let corrupt = Filter { state: Some(State::Corrupt), limit: 1000, ..Filter::default() };
        let corrupt = store.list(corrupt).await;
        let corrupt = self.ok("list", corrupt).unwrap_or_default().entries;
        let is_corrupt = |job: &str| corrupt.iter().any(|entry| entry.key.job_id.as_str() == job);
        let one = number % jobs.len();
        for (number, job) in jobs.into_iter().enumerate() {
            if number != one && !is_corrupt(job) {
                continue;
            }
            let mut bodies = base.sent[job].clone();
            if let Order::LastFirst = order {
                bodies.reverse();
            }
            for bytes in bodies {
                let repeated = store.record(arrival(job, &Event::ArticleComplete, bytes)).await;
                self.ok("record of an old delivery", repeated);
            }
            self.observed.again.push(job.clone());
        }
    }

    /// Removes what was done first. Nothing is old enough that was done later.
    async fn prune(&mut self, store: &SqliteStore) {
        let before = SystemTime::UNIX_EPOCH + START + Duration::from_secs(1);
        let prune =
            Prune { bodies_before: before, entries_before: before, limit: 100, ..Prune::default() };
        while self.ok("prune", store.prune(prune).await).is_some_and(|pruned| pruned.more) {}
    }

    fn ok<T>(&mut self, call: &str, result: Result<T, Error>) -> Option<T> {
        let Observed { met, failed, .. } = &mut self.observed;
        let note = |error: &Error| {
            if error.is_damaged() { met } else { failed }.push(format!("{call}: {error}"));
        };
        result.inspect_err(note).ok()
    }

    /// Asks for damage, as an operator would.
    async fn look(&mut self, inbox: &Inbox, store: &SqliteStore) {
        let findings = inbox.check().await;
        let findings = self.ok("check", findings);
        self.observed.reported.extend(findings.into_iter().flatten().map(|it| it.to_string()));
        let health = store.health().await;
        let health = self.ok("health", health).unwrap_or_default();
        self.observed.reported.extend(health.findings);
        let health = inbox.health().await;
        if let Err(error) = health.writable
            && self.observed.met.is_empty()
        {
            let is_damage = error.to_string().contains("is damaged");
            let Observed { met, failed, .. } = &mut self.observed;
            if is_damage { met } else { failed }.push(format!("health: {error}"));
        }
        let counts = inbox.counts().await;
        self.ok("counts", counts);
        self.poll(store).await;
    }

    /// Polls every job that is due, and notes what is in the ledger.
    async fn poll(&mut self, store: &SqliteStore) {
        let claim = PollClaim { limit: 100, lease: Duration::from_secs(60), bucket: BUCKET };
        let polls = store.claim_polls(claim).await;
        for poll in self.ok("claim of polls", polls).unwrap_or_default().polls {
            let unfinished = PollOutcome::Unfinished {
                after: Duration::from_secs(3600),
                cause: "it is queued".into(),
            };
            let settled = store.settle_poll(poll.lease, unfinished, 1).await;
            self.ok("outcome of a poll", settled);
        }
        let counts = store.ledger_counts().await;
        self.ok("figures of the ledger", counts);
        let jobs = store.jobs(JobFilter { limit: 1000, ..JobFilter::default() }).await;
        let jobs = self.ok("list of jobs", jobs).map_or(Vec::new(), |page| page.items);
        let intents = store.intents(None, 0, 1000).await;
        let intents = self.ok("list of intents", intents).map_or(Vec::new(), |page| page.items);
        let jobs = jobs.iter().map(|job| (job.job_id.to_string(), job.state.to_string()));
        let intents =
            intents.iter().map(|intent| (intent.name.to_string(), intent.state.to_string()));
        self.observed.ledger = jobs.chain(intents).collect();
    }

    async fn list(&mut self, store: &SqliteStore) -> Vec<Shown> {
        let mut all = Vec::new();
        let mut filter = Filter { limit: 40, ..Filter::default() };
        loop {
            let page = store.list(filter.clone()).await;
            let Some(page) = self.ok("list", page) else { return all };
            for entry in page.entries {
                let shown = store.show(entry.key.clone()).await;
                match self.ok("show", shown) {
                    Some(Some((entry, bodies))) => {
                        let bodies = bodies.into_iter().map(|mut body| {
                            body.bytes = None;
                            body
                        });
                        all.push((entry, bodies.collect()));
                    }
                    _ => all.push((entry, Vec::new())),
                }
            }
            let Some(next) = page.next else { return all };
            filter.after = next;
        }
    }

    /// Runs a worker until nothing is left to do, or nothing happens any more.
    async fn work(&mut self, inbox: &Inbox, store: &SqliteStore) {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let count = Arc::new(AtomicUsize::new(0));
        let (seen, counted) = (Arc::clone(&calls), Arc::clone(&count));
        let worker = inbox.worker(move |job| {
            let call = (
                job.job_id().to_string(),
                job.article().expect("it is one").job_id.to_string(),
                Digest::of(job.body()),
            );
            seen.lock().expect("no handler panics").push(call);
            counted.fetch_add(1, Ordering::Relaxed);
            async { Ok(()) }
        });
        let idle = async {
            let (mut last, mut since) = (0, Instant::now());
            loop {
                // In this order: between the two, the worker may claim what is due.
                let due = store.due_since().await;
                let counts = store.counts().await;
                let none = matches!(due, Ok(None))
                    && counts.is_ok_and(|counts| counts.of(State::Leased) == 0);
                let calls = count.load(Ordering::Relaxed);
                if calls != last {
                    (last, since) = (calls, Instant::now());
                }
                if none || since.elapsed() > STUCK {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let ended = worker.concurrency(8).run(idle).await;
        self.ok("the worker ends", ended);
        self.observed.calls.append(&mut calls.lock().expect("no handler panics"));
    }
}

/// An article that was found corrupt before the damage stays so, and is not delivered again.
pub(super) fn is_corrupt_by_story(job: &str) -> bool {
    job.contains("_corrupt_")
}
