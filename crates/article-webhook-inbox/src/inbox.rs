//! Stores deliveries before they are answered.

mod expect_queue;
mod readiness;
#[cfg(feature = "signal")]
mod stop_signal;

mod expect_writer;

mod idle_watch;
mod sink;

mod health;
mod operator;

mod export;
mod import;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::timeout;

use self::{expect_queue::ExpectQueue, idle_watch::IdleWatch, readiness::Readiness};
use crate::{
    Clock, Error,
    store::{Pending, Store, memory::MemoryStore},
    telemetry,
    worker::{Failed, Job, Registry, Worker},
};

pub use health::{Health, LedgerHealth};
pub use idle_watch::UNCLAIMED_AFTER;
pub use operator::Requeued;
#[cfg(feature = "signal")]
pub use stop_signal::stop_signal;

/// How long a delivery or a health check waits for the store. After that a delivery is answered with 503. If the store
/// commits it later, the next attempt of the service is a duplicate.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// How many bytes of bodies of refused deliveries are kept, unless another number is set.
const QUARANTINE_BUDGET: u64 = 256 << 20;

/// Stores deliveries before they are answered, once per job, and passes them to a [`Worker`].
///
/// An inbox is a [`Sink`](article_webhook::Sink): mount it with an adapter's `receive`. Clones share the inbox.
///
/// | delivery | reply |
/// |---|---|
/// | the first body of a job, or one that supersedes bodies which do not decode | stored, once the commit has returned |
/// | the same body again, or another body for a stored job | duplicate; another body is kept beside the first |
/// | another body, while the entry is full and one is known to decode | duplicate; it is counted and not kept |
/// | another body, while the entry is full and none is known to decode | retry |
/// | one that is refused although it has the token and a job's id, because its body is malformed or names another job | that refusal, once the body is [kept](Inbox::quarantine_budget) |
/// | one that reports a failure of its job, such as a `status` of `failed` | stored, once it is kept in the same way |
/// | one that came to the capability URL of an order of a collector, which is another job | unauthorized, once it is kept |
/// | any, while the store is locked, full, failing or down, or takes longer than two seconds | unavailable |
///
/// ```
/// use article_webhook_inbox::{Inbox, State};
/// use article_webhook::{Reply, Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let folder = tempfile::tempdir()?;
///     let inbox = Inbox::open(folder.path().join("inbox.db")).await?;
///     let post = fixture::complete();
///     assert_eq!(inbox.accept(post.delivery()?).await, Reply::Stored);
///     assert_eq!(inbox.accept(post.delivery()?).await, Reply::Duplicate);
///     assert_eq!(inbox.counts().await?.of(State::Waiting), 1);
///
///     inbox.close().await?;
///     assert_eq!(inbox.accept(post.delivery()?).await, Reply::Unavailable);
///     Ok(())
/// }
/// ```
#[doc = ""]
#[doc = include_str!("inbox/promises.md")]
#[derive(Clone)]
pub struct Inbox(Arc<Shared>);

/// What the clones of an inbox share.
struct Shared {
    store: Arc<dyn Store>,
    workers: Registry,
    idle_watch: IdleWatch,
    refused: Mutex<ExpectQueue>,
    /// Written while a job of the queue is stored, and read while jobs are erased, which share commits.
    expecting: tokio::sync::RwLock<()>,
    readiness: Mutex<Readiness>,
    /// Held while the store is probed.
    probing: tokio::sync::Mutex<()>,
    quarantine_budget: AtomicU64,
}

impl Inbox {
    /// Opens the inbox in this file, or creates it: a [`SqliteStore`](crate::SqliteStore) with its default settings.
    ///
    /// # Errors
    ///
    /// The file cannot be used: another process uses it; it is on a network file system; it belongs to another version;
    /// it is damaged or not a database; its folder is missing; or the system is neither Linux nor macOS. The error says what to do.
    #[allow(clippy::missing_panics_doc, reason = "opening a store does not panic")]
    #[cfg(feature = "sqlite")]
    pub async fn open(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        use crate::store::sqlite::SqliteStore;

        let path = path.as_ref().to_owned();
        let opened = tokio::task::spawn_blocking(move || SqliteStore::open(path)).await;
        Ok(Self::new(opened.expect("opening a store does not panic")?))
    }

    /// An inbox in a store that was opened with settings: `SqliteStore`, `PostgresStore` of `article-webhook-postgres`, or
    /// [`MemoryStore`].
    pub fn new(store: impl Store) -> Self {
        let workers = Registry::default();
        let waken = workers.clone();
        store.wake_with(Box::new(move || waken.wake()));
        let inbox = Self(Arc::new(Shared {
            store: Arc::new(store),
            workers,
            idle_watch: IdleWatch::default(),
            refused: Mutex::default(),
            expecting: tokio::sync::RwLock::default(),
            readiness: Mutex::default(),
            probing: tokio::sync::Mutex::default(),
            quarantine_budget: AtomicU64::new(QUARANTINE_BUDGET),
        }));
        inbox.expect_kept();
        inbox
    }

    /// An inbox in memory, for unit tests. Everything in it is lost when the process ends.
    #[must_use]
    pub fn memory() -> Self {
        Self::new(MemoryStore::new(Clock::system()))
    }

    /// How many bytes of bodies of refused deliveries are kept, for this inbox and its clones. The default is 256 MiB.
    ///
    /// A delivery that has the token and the id of a job is never thrown away. If its body is malformed, or names another job, the
    /// answer is a refusal, so that the service delivers again; but the body may be the only copy of an article. It is
    /// [quarantined](crate::State::Quarantined), its job is expected, and no handler gets it. Of each job the latest and the
    /// longest such body are kept. Each takes 64 KiB of the budget at least, and what came to capability URLs gets a quarter of it.
    /// When the budget is used up, what was kept stays, further bodies are not kept, and the log has an error.
    ///
    /// ```
    /// use article_webhook_inbox::{EntryKey, Inbox, State};
    /// use article_webhook::{Sink, fixture::{self, Defect}};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory().quarantine_budget(64 << 20);
    ///     let post = fixture::complete().job_id("job_1");
    ///     let cut = post.clone().defect(Defect::TruncatedBody);
    ///     let refused = fixture::receiver().open(cut.headers())?.read(cut.bytes().clone()).unwrap_err();
    ///     inbox.keep_refused(refused).await; // as the adapters do
    ///
    ///     let article = EntryKey::article("job_1".parse()?);
    ///     let (entry, bodies) = inbox.show(article.quarantine()).await?.ok_or("it is kept")?;
    ///     assert_eq!((entry.state, bodies[0].bytes.as_ref()), (State::Quarantined, Some(cut.bytes())));
    ///
    ///     inbox.accept(post.delivery()?).await;
    ///     assert_eq!(inbox.show(article.quarantine()).await?, None, "a good copy came");
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn quarantine_budget(self, bytes: u64) -> Self {
        self.0.quarantine_budget.store(bytes, Ordering::Relaxed);
        self
    }

    /// A worker that runs a handler for the articles of this inbox.
    pub fn worker<H, F>(&self, handler: H) -> Worker
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        Worker::new(Arc::clone(&self.0.store), self.0.workers.clone(), handler)
    }

    /// The store of this inbox, for a collector and for tools. After an entry was stored by it, [wake](Self::wake) the workers.
    #[must_use]
    #[doc(hidden)]
    pub fn ledger(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0.store)
    }

    /// Notifies the workers of this inbox in this process that an entry may be due. Whatever stores entries through the inbox
    /// does this already.
    pub fn wake(&self) {
        self.0.workers.wake();
    }

    /// Returns once the store is open: at once, unless it [waits](crate::SqliteSettings::wait_for_lock) for the end of another
    /// process.
    ///
    /// # Errors
    ///
    /// The store could not be opened, or was closed. It will not be opened any more: end the process.
    pub async fn opened(&self) -> Result<(), Error> {
        self.0.store.opened().await
    }

    /// Finishes the calls in progress and closes the store. Every later delivery is answered 503. Stop the server and
    /// the worker first. An inbox that is dropped is closed as well.
    ///
    /// # Errors
    ///
    /// The store failed to close, or could not be [opened](Self::opened). No acknowledged delivery is lost.
    pub async fn close(&self) -> Result<(), Error> {
        self.expect_queue().keep_last(|jobs| self.0.store.keep(jobs));
        let closed = self.0.store.close().await;
        let mut queue = self.expect_queue();
        // A store that was never open has kept nothing.
        if closed.is_ok() || !queue.has_kept() {
            let dropped = queue.dropped;
            let (kept, lost) = queue.at_the_end();
            telemetry::expected_at_the_end(kept.len(), lost.iter().map(|job| &job.job_id), dropped);
        }
        drop(queue);
        // What was known says nothing about a closed store.
        *self.readiness() = Readiness::default();
        closed
    }

    /// Waits for the store, but not for longer than a delivery may take.
    async fn with_timeout<T>(&self, call: Pending<'_, T>) -> Result<T, Error> {
        let late = |_| Error::unavailable("the store took longer than two seconds");
        timeout(STORE_TIMEOUT, call).await.map_err(late)?
    }

    fn readiness(&self) -> MutexGuard<'_, Readiness> {
        self.0.readiness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expect_queue(&self) -> MutexGuard<'_, ExpectQueue> {
        self.0.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inbox").field(&self.0.store).finish()
    }
}
