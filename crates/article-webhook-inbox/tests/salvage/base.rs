//! The inboxes that are damaged: closed, and killed while the newest half was in the log alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use article_webhook::{Event, fixture};
use article_webhook_inbox::{
    Digest, EntryKey, Prune, Source, SqliteStore,
    store::{Arrival, Expect, Outcome, Store},
};
use article_webhook_inbox_contract::settle_one;
use bytes::Bytes;

/// The endings of the files that are copied.
pub(super) const ENDINGS: [&str; 3] = ["", "-wal", "-lock"];

/// The API key of the orders.
pub(super) const KEY: u64 = 1;
/// The length of the bodies that are removed.
pub(super) const REMOVED_BYTES: usize = 300;

pub(super) const WITHIN: Duration = Duration::from_secs(60);

/// The bytes of a database, of its log and of its lock.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Files(pub(super) [Vec<u8>; 3]);

impl Files {
    pub(super) fn read(path: &Path) -> Self {
        Self(ENDINGS.map(|ending| std::fs::read(with(path, ending)).unwrap_or_default()))
    }

    pub(super) fn write(&self, path: &Path) {
        for (ending, bytes) in ENDINGS.iter().zip(&self.0) {
            if !bytes.is_empty() {
                std::fs::write(with(path, ending), bytes).expect("the file can be written");
            }
        }
    }
}

pub(super) fn with(path: &Path, ending: &str) -> PathBuf {
    format!("{}{ending}", path.display()).into()
}

/// A sound inbox, and what was done to it.
#[derive(Default)]
pub(super) struct Base {
    pub(super) name: &'static str,
    pub(super) files: Files,
    /// The bodies that were sent, by their jobs.
    pub(super) sent: BTreeMap<String, Bytes>,
    /// The jobs whose articles were handled.
    pub(super) done: BTreeSet<String>,
    /// Jobs that were done, and that retention removed.
    pub(super) removed: BTreeSet<String>,
    /// Jobs that were ordered, and did not come.
    pub(super) expected: BTreeSet<String>,
    /// Intents that were ordered or may have been.
    pub(super) intents: BTreeSet<String>,
}

/// A folder in memory if there is one.
pub(super) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder can be made")
}

impl Base {
    pub(super) fn all() -> [Self; 3] {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            [Self::closed().await, Self::killed().await, Self::of_deliveries().await]
        })
    }

    async fn closed() -> Self {
        let folder = folder();
        let path = folder.path().join("inbox.db");
        let store = SqliteStore::open(&path).expect("opened");
        let mut base = Self { name: "closed", ..Self::default() };
        base.half(&store, "a").await;
        base.half(&store, "b").await;
        store.close().await.expect("closed");
        drop(store);
        base.files = Files::read(&path);
        base
    }

    async fn killed() -> Self {
        let folder = folder();
        let path = folder.path().join("inbox.db");
        let store = SqliteStore::open(&path).expect("opened");
        let mut base = Self { name: "killed", ..Self::default() };
        base.half(&store, "a").await;
        store.close().await.expect("closed");
        drop(store);
        let store = SqliteStore::open(&path).expect("opened");
        base.half(&store, "b").await;
        base.files = copied(&path);
        assert!(!base.files.0[1].is_empty(), "a log");
        base
    }

    /// A log of 120 commits and more, with deliveries alone.
    async fn of_deliveries() -> Self {
        let folder = folder();
        let path = folder.path().join("inbox.db");
        let store = SqliteStore::open(&path).expect("opened");
        let mut base = Self { name: "deliveries", ..Self::default() };
        for number in 0..120 {
            base.record(&store, &format!("d_{number}"), 2000).await;
        }
        base.files = copied(&path);
        assert!(base.files.0[1].len() > 120 * 8192, "a log of all deliveries");
        base
    }

    /// 20 articles in every state, and a part of the ledger.
    async fn half(&mut self, store: &SqliteStore, part: &str) {
        if part == "a" {
            self.remove_done(store).await;
        }
        for number in 0..20 {
            let job = format!("{part}_{number}");
            self.record(store, &job, [200, 900, 4000, 15_000][number % 4]).await;
            let cause = "the shop said no".to_owned();
            match number {
                0..7 => {
                    settle_one(store, Outcome::Done).await;
                    self.done.insert(job);
                }
                7..10 => settle_one(store, Outcome::Dead { cause }).await,
                10 => settle_one(store, Outcome::Corrupt { seen: 1, cause }).await,
                _ => {
                    // The next claims are for those that follow.
                    let after = Duration::from_secs(3600);
                    settle_one(store, Outcome::Retry { after, cause }).await;
                }
            }
        }
        for number in 0..6 {
            let job = format!("{part}_ordered_{number}");
            let intent = format!("{part}-post-{number}");
            store.intend(&intent, WITHIN, KEY, None).await.expect("intended");
            if number < 4 {
                let at = store.now() + Duration::from_secs(600);
                store
                    .ordered(&intent, job.parse().expect("an id"), at, KEY)
                    .await
                    .expect("ordered");
                self.expected.insert(job);
            }
            self.intents.insert(intent);
        }
        let known = Expect::job(format!("{part}_0").parse().expect("an id"), store.now());
        store.expect(vec![known]).await.expect("expected");
    }

    /// Articles that were done, and that retention has removed.
    async fn remove_done(&mut self, store: &SqliteStore) {
        for number in 0..2 {
            let job = format!("removed_{number}");
            self.record(store, &job, REMOVED_BYTES).await;
            settle_one(store, Outcome::Done).await;
            self.sent.remove(&job);
            self.removed.insert(job);
        }
        let after = store.now() + Duration::from_secs(1);
        let prune =
            Prune { bodies_before: after, entries_before: after, limit: 100, ..Prune::default() };
        store.prune(prune).await.expect("pruned");
    }

    async fn record(&mut self, store: &SqliteStore, job: &str, bytes: usize) {
        let bytes = article(job, bytes);
        store.record(arrival(job, bytes.clone())).await.expect("recorded");
        self.sent.insert(job.to_owned(), bytes);
    }
}

/// Another process copies: closing a file of the database here would release the locks of SQLite.
fn copied(path: &Path) -> Files {
    let folder = folder();
    let copy = folder.path().join("inbox.db");
    for ending in ENDINGS {
        let paths = [with(path, ending), with(&copy, ending)];
        assert!(Command::new("cp").args(paths).status().expect("cp runs").success());
    }
    Files::read(&copy)
}

pub(super) fn article(job_id: &str, bytes: usize) -> Bytes {
    let seed = job_id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    fixture::generated(seed, bytes).job_id(job_id).bytes().clone()
}

pub(super) fn arrival(job_id: &str, bytes: Bytes) -> Arrival {
    let event = Event::ArticleComplete;
    Arrival {
        key: EntryKey { job_id: job_id.parse().expect("a job id"), event },
        source: Source::Webhook,
        target: "shop".into(),
        intent: None,
        digest: Digest::of(&bytes),
        bytes,
    }
}

/// The time of a start at which every deadline of an order has passed.
pub(super) fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(7200)
}
