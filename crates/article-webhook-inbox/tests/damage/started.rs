//! Starts with damaged files, works on them to the end, and notes what happened.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use article_webhook_inbox::{
    Clock, Error, Filter, Inbox, JobFilter, Prune, SqliteSettings, SqliteStore, State,
    store::{PollClaim, PollOutcome, Recorded, Store},
};
use bytes::Bytes;

use super::base::{self, BUCKET, Base, Files, WITHIN, arrival, article, start};

/// The job that is delivered to the damaged inbox.
pub(super) const NEW: &str = "job_new";

/// When the damaged inbox is opened.
const LATER: Duration = Duration::from_secs(600);

/// A worker that is not idle after this long, although there is work for less than a second, is stuck. On a busy machine it may
/// get no processor for seconds.
const STUCK: Duration = Duration::from_secs(30);

/// A damage that takes longer than this hangs: each of its four workers may be stuck.
const TOO_LONG: Duration = STUCK.saturating_mul(5);

/// Every entry, by its key: as it is shown with its bodies, but without its id, which differs where entries were lost before.
pub(super) type Shown = BTreeMap<String, String>;

/// What happened to one copy.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// Why it was not opened, or not a second time.
    pub(super) refused: Vec<String>,
    /// Calls that failed because of damage, with their errors.
    pub(super) met: Vec<String>,
    /// Calls that failed for another reason, and what else must never happen.
    pub(super) wrong: Vec<String>,
    /// What was reported about damage: findings, and the keys of corrupt entries.
    pub(super) reported: BTreeSet<String>,
    /// After the start, and at the end.
    pub(super) before: Shown,
    pub(super) after: Shown,
    /// The jobs that handlers were called for, with the bodies.
    pub(super) calls: Vec<(String, Bytes)>,
    /// The old jobs that were delivered again.
    pub(super) again: BTreeSet<String>,
    /// The states of the jobs and of the intents at the end.
    pub(super) ledger: BTreeMap<String, String>,
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
    let Observed { refused, met, wrong, reported, calls, .. } = &observed;
    assert!(refused.is_empty() && met.is_empty() && wrong.is_empty(), "{observed:#?}");
    assert!(reported.iter().all(|reported| is_corrupt_by_story(reported)), "{reported:?}");
    assert!(calls.len() > 15, "{observed:#?}");
    observed
}

/// Starts with these files. `number` chooses the old delivery that is repeated.
pub(super) fn run(base: &Base, files: &Files, number: usize) -> Observed {
    let folder = base::folder();
    let path = files.write(folder.path());
    let panics = PANICS.load(Ordering::Relaxed);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut observed = Observed::default();
    let both_runs =
        async { tokio::time::timeout(TOO_LONG, observed.both_runs(base, &path, number)).await };
    let is_over = runtime.block_on(both_runs).is_ok();
    runtime.shutdown_background();
    if !is_over {
        observed.wrong.push("hangs".into());
    }
    if PANICS.load(Ordering::Relaxed) > panics {
        observed.wrong.push("a thread panics".into());
    }
    observed
}

impl Observed {
    async fn both_runs(&mut self, base: &Base, path: &Path, number: usize) {
        let clock = Clock::stepped(start() + LATER);
        let open = || SqliteStore::open_with(path, SqliteSettings::default().clock(clock.clone()));
        let store = match open() {
            Ok(store) => store,
            Err(error) => return self.refused.push(error.to_string()),
        };
        let inbox = Inbox::new(store.clone());
        self.look(&inbox, &store).await;
        self.before = self.list(&store).await;
        clock.advance(Duration::from_secs(60));
        self.work(&inbox).await;
        self.prune(&store).await;

        let recorded = store.record(arrival(NEW, &article(NEW, 700))).await;
        match self.ok("record of a new delivery", recorded) {
            None | Some(Recorded::Stored) => {}
            Some(recorded) => self.wrong.push(format!("a new delivery is {recorded:?}")),
        }
        // An entry with several bodies is repaired by a delivery of the damaged one, if a worker has seen it since the
        // delivery of another. So the last of them comes first, and then the first.
        for is_reversed in [true, false] {
            self.repeat(base, &store, (number, is_reversed)).await;
            self.work(&inbox).await;
        }
        self.look(&inbox, &store).await;
        drop(inbox);
        let closed = store.close().await;
        self.ok("close", closed);
        drop(store);

        match open() {
            Ok(store) => {
                let inbox = Inbox::new(store.clone());
                self.work(&inbox).await;
                self.after = self.list(&store).await;
                self.look(&inbox, &store).await;
            }
            Err(error) => self.refused.push(error.to_string()),
        }
    }

    fn ok<T>(&mut self, call: &str, result: Result<T, Error>) -> Option<T> {
        let Self { met, wrong, .. } = self;
        let note = |error: &Error| {
            if error.is_damaged() { met } else { wrong }.push(format!("{call} fails: {error}"));
        };
        result.inspect_err(note).ok()
    }

    /// Delivers one old job again, and each that is corrupt because of the damage.
    async fn repeat(&mut self, base: &Base, store: &SqliteStore, how: (usize, bool)) {
        let (number, is_reversed) = how;
        let jobs: Vec<_> = base.sent.keys().filter(|job| !is_corrupt_by_story(job)).collect();
        let corrupt = Filter { state: Some(State::Corrupt), limit: 1000, ..Filter::default() };
        let corrupt = store.list(corrupt).await;
        let corrupt = self.ok("list", corrupt).map_or_else(Vec::new, |page| page.items);
        let is_corrupt = |job: &str| corrupt.iter().any(|entry| entry.key.job_id.as_str() == job);
        let one = number % jobs.len();
        let again = jobs.iter().enumerate().filter(|(at, job)| *at == one || is_corrupt(job));
        for (_, job) in again {
            let mut bodies = base.sent[*job].clone();
            if is_reversed {
                bodies.reverse();
            }
            for bytes in bodies {
                let repeated = store.record(arrival(job, &bytes)).await;
                self.ok("record of an old delivery", repeated);
            }
            self.again.insert((*job).clone());
        }
    }

    /// Removes what was done first. Nothing is old enough that was done later.
    async fn prune(&mut self, store: &SqliteStore) {
        let before = start() + Duration::from_secs(2);
        let prune =
            Prune { bodies_before: before, entries_before: before, limit: 100, ..Prune::default() };
        while self.ok("prune", store.prune(prune).await).is_some_and(|pruned| pruned.more) {}
    }

    /// Asks for damage, as an operator would, and polls every job that is due.
    async fn look(&mut self, inbox: &Inbox, store: &SqliteStore) {
        let findings = self.ok("check", inbox.check().await).into_iter().flatten();
        self.reported.extend(findings.map(|it| it.to_string()));
        let health = self.ok("health", store.health().await).unwrap_or_default();
        self.reported.extend(health.findings);
        if let Err(error) = inbox.health().await.writable
            && self.met.is_empty()
        {
            let is_damage = error.to_string().contains("is damaged");
            if is_damage { &mut self.met } else { &mut self.wrong }
                .push(format!("health: {error}"));
        }
        self.ok("counts", inbox.counts().await);

        let claim = PollClaim { limit: 100, lease: WITHIN, bucket: BUCKET };
        let polls = self.ok("claim of polls", store.claim_polls(claim).await);
        for poll in polls.unwrap_or_default().polls {
            let (after, cause) = (60 * WITHIN, String::from("it is queued"));
            let unfinished = PollOutcome::Unfinished { after, cause };
            let settled = store.settle_poll(poll.lease, unfinished, BUCKET.key).await;
            self.ok("outcome of a poll", settled);
        }
        self.ok("figures of the ledger", store.ledger_counts().await);
        let jobs = store.jobs(JobFilter { limit: 1000, ..JobFilter::default() }).await;
        let jobs = self.ok("list of jobs", jobs).map_or(Vec::new(), |page| page.items);
        let intents = self.ok("list of intents", store.intents(None, 0, 1000).await);
        let intents = intents.map_or(Vec::new(), |page| page.items);
        let jobs = jobs.iter().map(|job| (job.job_id.to_string(), job.state.to_string()));
        let intents =
            intents.iter().map(|intent| (intent.name.to_string(), intent.state.to_string()));
        self.ledger = jobs.chain(intents).collect();
    }

    async fn list(&mut self, store: &SqliteStore) -> Shown {
        let mut all = Shown::new();
        let mut filter = Filter { limit: 40, ..Filter::default() };
        loop {
            let page = store.list(filter.clone()).await;
            let Some(page) = self.ok("list", page) else { return all };
            for mut entry in page.items {
                let key = entry.key.to_string();
                let shown = store.show(entry.key.clone()).await;
                let mut bodies = Vec::new();
                if let Some(Some(shown)) = self.ok("show", shown) {
                    (entry, bodies) = shown;
                }
                if entry.state == State::Corrupt {
                    self.reported.insert(format!("{key} is corrupt"));
                }
                entry.id = 0;
                bodies.iter_mut().for_each(|body| body.bytes = None);
                all.insert(key, format!("{entry:?} {bodies:?}"));
            }
            let Some(next) = page.next else { return all };
            filter.after = next;
        }
    }

    async fn work(&mut self, inbox: &Inbox) {
        let (mut calls, ended) = work(inbox).await;
        self.calls.append(&mut calls);
        self.ok("the worker", ended);
    }
}

/// Runs a worker until nothing is left to do, or until it is stuck: the jobs that its handler was called for, with the bodies.
pub(super) async fn work(inbox: &Inbox) -> (Vec<(String, Bytes)>, Result<(), Error>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let worker = inbox.worker(move |job| {
        let call = (job.job_id().to_string(), Bytes::copy_from_slice(job.body()));
        seen.lock().expect("no handler panics").push(call);
        async { Ok(()) }
    });
    let ended = tokio::time::timeout(STUCK, worker.concurrency(8).run_until_idle()).await;
    (std::mem::take(&mut *calls.lock().expect("no handler panics")), ended.unwrap_or(Ok(())))
}

/// An article that was found corrupt before the damage stays so, and is not delivered again.
pub(super) fn is_corrupt_by_story(job: &str) -> bool {
    job.contains("_corrupt_")
}
