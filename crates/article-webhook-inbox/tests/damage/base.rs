//! The inboxes that are damaged: closed, and killed while the newest half was in the log alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use article_webhook::fixture;
use article_webhook_inbox::{
    Clock, EntryKey, JobFilter, Prune, Reason, Source, SqliteSettings, SqliteStore,
    store::{Arrival, BucketSettings, Expect, Outcome, PollClaim, PollOutcome, Store},
};
use article_webhook_inbox_contract::settle_one;
use bytes::Bytes;
use rusqlite::Connection;

/// The endings of the files that are copied.
pub(super) const ENDINGS: [&str; 3] = ["", "-wal", "-lock"];

/// When the first thing happens.
pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

pub(super) const WITHIN: Duration = Duration::from_secs(60);

pub(super) const BUCKET: BucketSettings = BucketSettings { per_minute: 6_000, burst: 500, key: 1 };

/// The length of the bodies of jobs that are removed.
pub(super) const REMOVED_BYTES: usize = 300;

const SECOND: Duration = Duration::from_secs(1);

/// The bytes of a database, of its log and of its lock.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Files(pub(super) [Vec<u8>; 3]);

impl Files {
    pub(super) fn read(path: &Path) -> Self {
        Self(ENDINGS.map(|ending| std::fs::read(with(path, ending)).unwrap_or_default()))
    }

    /// Writes the files into a folder, and returns the database's path.
    pub(super) fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("inbox.db");
        for (ending, bytes) in ENDINGS.iter().zip(&self.0) {
            if !bytes.is_empty() {
                std::fs::write(with(&path, ending), bytes).expect("the file can be written");
            }
        }
        path
    }
}

fn with(path: &Path, ending: &str) -> PathBuf {
    format!("{}{ending}", path.display()).into()
}

/// A folder in memory if there is one.
pub(super) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder can be made")
}

/// A sound inbox, and what was done to it.
#[derive(Default)]
pub(super) struct Base {
    pub(super) name: &'static str,
    pub(super) files: Files,
    /// The bytes of a page.
    pub(super) page: usize,
    /// The bodies that were sent, by their jobs. No handler may see another.
    pub(super) sent: BTreeMap<String, Vec<Bytes>>,
    /// The jobs whose articles were handled.
    pub(super) done: BTreeSet<String>,
    /// Jobs that were done, and that retention removed.
    pub(super) removed: BTreeSet<String>,
    /// Jobs that are polled, because they did not come.
    pub(super) expected: BTreeSet<String>,
    /// Intents that were ordered or may have been.
    pub(super) intents: BTreeSet<String>,
}

impl Base {
    pub(super) fn all() -> Vec<Self> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            vec![
                Self::build("closed", 8192).await,
                Self::build("killed", 8192).await,
                Self::build("closed, small pages, no lock", 1024).await,
                Self::build("killed, small pages, no lock", 1024).await,
                Self::build("deliveries", 8192).await,
            ]
        })
    }

    /// Whether the lock is there, whose record says how far was acknowledged.
    pub(super) fn has_lock(&self) -> bool {
        !self.files.0[2].is_empty()
    }

    /// Pages of 1024 bytes make a small file with pages of each kind.
    async fn build(name: &'static str, page: usize) -> Self {
        let folder = folder();
        let path = folder.path().join("inbox.db");
        if page != 8192 {
            // The application made the file, and has a table in it.
            let application = Connection::open(&path).expect("a database");
            let tables = format!(
                "PRAGMA page_size = {page}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
                 CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO shop (name) VALUES ('a')"
            );
            application.execute_batch(&tables).expect("a table");
        }
        let clock = Clock::stepped(start());
        let open = || {
            SqliteStore::open_with(&path, SqliteSettings::default().clock(clock.clone()))
                .expect("opened")
        };
        let mut base = Self { name, page, ..Self::default() };
        let mut store = open();
        if name == "deliveries" {
            for number in 0..120 {
                base.record(&store, &format!("d_{number}"), 2000).await;
            }
        } else {
            base.remove(&store, &clock).await;
            base.half(&store, "a").await;
            if name.starts_with("killed") {
                store.close().await.expect("closed");
                drop(store);
                store = open();
            }
            base.half(&store, "b").await;
        }
        let jobs = store.jobs(JobFilter { limit: 1000, ..JobFilter::default() }).await;
        let open = jobs.expect("listed").items.into_iter().filter(|job| job.state.is_open());
        base.expected = open.map(|job| job.job_id.to_string()).collect();
        if name.starts_with("closed") {
            store.close().await.expect("closed");
        }
        // Another process copies: closing a file of the database here would release the locks of SQLite.
        let copies = self::folder();
        let copy = copies.path().join("inbox.db");
        for ending in ENDINGS {
            let paths = [with(&path, ending), with(&copy, ending)];
            Command::new("cp").args(paths).output().expect("cp runs");
        }
        base.files = Files::read(&copy);
        if name.ends_with("no lock") {
            base.files.0[2].clear();
        }
        assert_eq!(base.files.0[1].is_empty(), name.starts_with("closed"), "{name}: a log");
        base
    }

    /// What retention and an erasure have removed, and a body of many pages.
    async fn remove(&mut self, store: &SqliteStore, clock: &Clock) {
        for number in 0..2 {
            let job = format!("removed_{number}");
            self.end(store, &job, Outcome::Done, REMOVED_BYTES).await;
            self.sent.remove(&job);
            self.done.remove(&job);
            self.removed.insert(job);
        }
        clock.advance(SECOND);
        let (none, limit) = (SystemTime::UNIX_EPOCH, 100);
        let before = store.now();
        let prune =
            Prune { bodies_before: none, entries_before: before, limit, ..Prune::default() };
        store.prune(prune).await.expect("pruned");
        for number in 0..4 {
            self.end(store, &format!("old_{number}"), Outcome::Done, 400).await;
        }
        clock.advance(SECOND);
        let prune = Prune { bodies_before: store.now(), entries_before: none, ..prune };
        store.prune(prune).await.expect("pruned");
        let cause = "not yet".to_owned();
        self.end(store, "gone", Outcome::Dead { cause: cause.clone() }, 30_000).await;
        let after = Duration::from_secs(30);
        self.end(store, "large", Outcome::Retry { after, cause }, 100_000).await;
        // Its pages are free from now on.
        store.erase(vec!["gone".parse().expect("a job id")]).await.expect("erased");
        self.sent.remove("gone");
    }

    /// Articles in every state, and a part of the ledger.
    async fn half(&mut self, store: &SqliteStore, part: &str) {
        for number in 0..5 {
            self.end(store, &format!("{part}_done_{number}"), Outcome::Done, 400).await;
            let cause = "the shop said no".to_owned();
            self.end(store, &format!("{part}_dead_{number}"), Outcome::Dead { cause }, 400).await;
        }
        for number in 0..3 {
            let cause = "no article".to_owned();
            let unhandled = format!("{part}_unhandled_{number}");
            self.record_body(store, &unhandled, "{}".into()).await;
            settle_one(store, Outcome::Unhandled { seen: 1, cause }).await;
            let cause = "a stored body differs".to_owned();
            let corrupt = Outcome::Corrupt { seen: 1, cause };
            self.end(store, &format!("{part}_corrupt_{number}"), corrupt, 400).await;
            let (after, cause) = (Duration::from_secs(30), "no network".to_owned());
            let again = Outcome::Retry { after, cause };
            self.end(store, &format!("{part}_again_{number}"), again, 400).await;
        }
        let (after, cause) = (Duration::from_secs(7200), "much later".to_owned());
        self.end(store, &format!("{part}_late"), Outcome::Retry { after, cause }, 400).await;
        let claim = article_webhook_inbox_contract::CLAIM_ONE;
        for number in 0..4 {
            self.record(store, &format!("{part}_leased_{number}"), 300 * number + 100).await;
            assert_eq!(store.claim(claim).await.expect("claimed").claimed.len(), 1);
        }
        let two = format!("{part}_two");
        self.record_body(store, &two, "[]".into()).await;
        self.record(store, &two, 500).await;
        let updated = arrival(&format!("{part}_updated"), &"{}".into());
        let key = EntryKey { event: "article.updated".into(), ..updated.key };
        store.record(Arrival { key, ..updated }).await.expect("recorded");
        self.order(store, part).await;
        for number in 0..8 {
            let job = format!("{part}_waiting_{number}");
            self.record(store, &job, [200, 900, 4000, 15_000][number % 4]).await;
        }
        if part == "a" {
            // The next claims are for those that follow.
            let lease = Duration::from_secs(3600);
            let claim = article_webhook_inbox::store::Claim { limit: 100, lease, ..claim };
            while !store.claim(claim).await.expect("claimed").claimed.is_empty() {}
        }
    }

    /// Jobs in several states of the ledger, and orders.
    async fn order(&mut self, store: &SqliteStore, part: &str) {
        let (now, lease) = (store.now(), Duration::from_secs(3600));
        for number in 0..8 {
            let job = |name: &str| format!("{part}_{name}_{number}").parse().expect("a job id");
            let intent = format!("{part}_post_{number}");
            store.intend(&intent, WITHIN, BUCKET.key, None).await.expect("intended");
            let at = now + Duration::from_secs(30);
            store.ordered(&intent, job("ordered"), at, BUCKET.key).await.expect("ordered");
            self.intents.insert(intent);
            let reason = Reason::Refused { code: "unavailable".into() };
            let at = now + Duration::from_secs(400);
            let refused = Expect { reason, ..Expect::job(job("refused"), at) };
            let jobs = ["done", "waiting", "polled"].map(|name| Expect::job(job(name), now));
            store.expect([&jobs[..], &[refused]].concat()).await.expect("expected");
        }
        let unknown = format!("{part}_unknown");
        store.intend(&unknown, Duration::ZERO, BUCKET.key, None).await.expect("intended");
        self.intents.insert(unknown);
        let claim = PollClaim { limit: 3, lease, bucket: BUCKET };
        let polls = store.claim_polls(claim).await.expect("polled").polls;
        let cause = "job_not_found".to_owned();
        let after = Duration::from_secs(30);
        let missing = PollOutcome::Missing { after, cause: cause.clone() };
        for (poll, outcome) in polls.iter().zip([PollOutcome::NotFound { cause }, missing]) {
            store.settle_poll(poll.lease, outcome, BUCKET.key).await.expect("settled");
        }
    }

    async fn record(&mut self, store: &SqliteStore, job: &str, bytes: usize) {
        self.record_body(store, job, article(job, bytes)).await;
    }

    async fn record_body(&mut self, store: &SqliteStore, job: &str, body: Bytes) {
        store.record(arrival(job, &body)).await.expect("recorded");
        self.sent.entry(job.to_owned()).or_default().push(body);
    }

    /// The entry is the only one that is due.
    async fn end(&mut self, store: &SqliteStore, job: &str, outcome: Outcome, bytes: usize) {
        self.record(store, job, bytes).await;
        if matches!(outcome, Outcome::Done) {
            self.done.insert(job.to_owned());
        }
        settle_one(store, outcome).await;
    }
}

pub(super) fn article(job_id: &str, bytes: usize) -> Bytes {
    let seed = job_id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    fixture::generated(seed, bytes).job_id(job_id).bytes().clone()
}

pub(super) fn arrival(job_id: &str, bytes: &Bytes) -> Arrival {
    let source = if bytes.len().is_multiple_of(2) { Source::Webhook } else { Source::Api };
    let intent = bytes.len().is_multiple_of(3).then(|| "intent_1".into());
    let arrival = article_webhook_inbox_contract::arrival(job_id, bytes);
    Arrival { source, target: "shop".into(), intent, ..arrival }
}
