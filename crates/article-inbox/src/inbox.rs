mod export;
mod health;
mod operations;
mod wake;

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use article_webhook::{Delivery, JobId, Refused, Reply, Sink};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout},
};

use crate::{
    Clock, Error, Failed, Job, MemoryStore, Store, Worker,
    rules::{hints::Hints, probe::Probe},
    store::{Arrival, Hint, Pending, Recorded},
    telemetry,
};

pub use export::Imported;
pub use health::Health;
pub(crate) use wake::Wake;

/// How long a delivery waits for the store before the service is told to come again, and how long a question after
/// its health does. What is stored after that is stored, and the service's next attempt is a duplicate.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pauses between two attempts to store a hint.
const HINT_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Stores deliveries before they are answered, each job's article once, and hands them to a [`Worker`].
///
/// An inbox is a [`Sink`]: mount it with an adapter's `receive`. Its clones are the same inbox.
///
/// | what came | reply |
/// |---|---|
/// | a job's first body, or one that supersedes bodies which do not decode | stored, once the commit has returned |
/// | the same body again, or another for a job that is stored | duplicate; a different body is kept beside the first |
/// | anything, while the store is locked, full, failing, down, or takes longer than two seconds | unavailable |
///
/// ```
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::{Inbox, State};
/// use article_webhook::{Reply, Sink, fixture::{self, Post}};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("inbox.db");
/// let inbox = Inbox::open(&path).await?;
/// let post = Post::complete();
/// let delivery = || fixture::receiver().open(post.headers())?.read(post.body().clone());
/// assert_eq!(inbox.accept(delivery()?).await, Reply::Stored);
/// assert_eq!(inbox.accept(delivery()?).await, Reply::Duplicate);
/// assert_eq!(inbox.counts().await?.of(State::Waiting), 1);
///
/// inbox.close().await?;
/// assert_eq!(inbox.accept(delivery()?).await, Reply::Unavailable);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Inbox(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    wake: Wake,
    hints: Mutex<Hints>,
    probe: tokio::sync::Mutex<Probe>,
}

impl Inbox {
    /// Opens the inbox in this file, or makes it: a [`SqliteStore`](crate::SqliteStore) with its default settings.
    ///
    /// # Errors
    ///
    /// The file cannot be used: another process has it, it is on a network file system, belongs to a newer
    /// version, is damaged or no database, or its folder is missing. The error says what to do.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::Inbox;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("inbox.db");
    /// let inbox = Inbox::open(&path).await?;
    /// let error = Inbox::open(&path).await.unwrap_err();
    /// assert!(error.to_string().contains("another process"), "{error}");
    /// # drop(inbox);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[allow(clippy::missing_panics_doc)] // opening a store does not panic
    #[cfg(feature = "sqlite")]
    pub async fn open(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let opened = tokio::task::spawn_blocking(move || crate::SqliteStore::open(path)).await;
        Ok(Self::new(opened.expect("opening a store does not panic")?))
    }

    /// An inbox in a store that was opened with settings, or in one of your own.
    ///
    /// ```
    /// use article_inbox::{Clock, Inbox, MemoryStore};
    ///
    /// let inbox = Inbox::new(MemoryStore::new(Clock::system()));
    /// ```
    pub fn new(store: impl Store) -> Self {
        let store = Arc::new(store);
        Self(Arc::new(Inner {
            store,
            wake: Wake::default(),
            hints: Mutex::default(),
            probe: tokio::sync::Mutex::default(),
        }))
    }

    /// An inbox that forgets everything with the process: for unit tests.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// assert_eq!(article_inbox::Inbox::memory().counts().await.unwrap().total(), 0);
    /// # });
    /// ```
    #[must_use]
    pub fn memory() -> Self {
        Self::new(MemoryStore::new(Clock::system()))
    }

    /// A worker for the articles in this inbox.
    ///
    /// ```
    /// use article_inbox::{Failed, Inbox, Job};
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     println!("{}", job.article().article.title);
    ///     Ok(())
    /// }
    ///
    /// let worker = Inbox::memory().worker(publish).concurrency(8);
    /// ```
    pub fn worker<H, F>(&self, handler: H) -> Worker
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        Worker::new(Arc::clone(&self.0.store), self.0.wake.clone(), handler)
    }

    /// Finishes what was begun and leaves the files in order; every later delivery is answered 503. Stop the
    /// server and the worker first. An inbox that is dropped is closed as well.
    ///
    /// # Errors
    ///
    /// The store failed to; nothing that was answered with 2xx is lost by that.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let inbox = article_inbox::Inbox::memory();
    /// assert!(inbox.close().await.is_ok());
    /// assert!(inbox.counts().await.is_err());
    /// # });
    /// ```
    pub async fn close(&self) -> Result<(), Error> {
        let closed = self.0.store.close().await;
        // What was seen before is not so any more.
        *self.0.probe.lock().await = Probe::default();
        closed
    }

    async fn record(&self, delivery: &Delivery) -> Result<Recorded, Error> {
        self.patiently(self.0.store.record(Arrival::from(delivery))).await
    }

    async fn patiently<T>(&self, asked: Pending<'_, T>) -> Result<T, Error> {
        let late = |_| Error::unavailable("the store took longer than two seconds");
        timeout(PATIENCE, asked).await.map_err(late)?
    }

    fn held_hints(&self) -> MutexGuard<'_, Hints> {
        self.0.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Inbox {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let began = Instant::now();
        let recorded = self.record(&delivery).await;
        telemetry::recorded(&delivery, &recorded, began.elapsed());
        match recorded {
            Ok(Recorded::Stored) => {
                self.0.wake.wake();
                Reply::Stored
            }
            Ok(Recorded::Duplicate | Recorded::Conflict { .. }) => Reply::Duplicate,
            Ok(Recorded::Crowded) => Reply::Retry,
            Err(_) => {
                self.remember(delivery.job_id().clone(), "unavailable");
                Reply::Unavailable
            }
        }
    }

    /// Keeps the job as a hint, in the store as soon as that takes it.
    fn refused(&self, refused: &Refused) {
        telemetry::refused(refused);
        let Some(job_id) = refused.job_id().cloned() else { return };
        self.remember(job_id, refused.rejection().code());
    }
}

impl Inbox {
    /// Holds a hint until the store takes it.
    fn remember(&self, job_id: JobId, code: &str) {
        let hint = Hint { job_id, at: self.0.store.now(), code: code.into() };
        let nobody_carries = self.held_hints().push(hint);
        if !nobody_carries {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => {
                drop(runtime.spawn(carry(Carrier { inbox: self.clone(), is_done: false })));
            }
            Err(_) => self.held_hints().put_down(),
        }
    }
}

/// Whoever carries hints to the store. When it is dropped before its work is done, as its runtime ends or the store
/// panics, the next hint finds another.
struct Carrier {
    inbox: Inbox,
    is_done: bool,
}

impl Drop for Carrier {
    fn drop(&mut self) {
        if !self.is_done {
            self.inbox.held_hints().put_down();
        }
    }
}

/// Carries hints to the store until none is left.
async fn carry(mut carrier: Carrier) {
    let inbox = carrier.inbox.clone();
    let [mut pause, longest] = HINT_PAUSES;
    loop {
        let Some(hint) = inbox.held_hints().next() else {
            carrier.is_done = true;
            return;
        };
        match inbox.0.store.hint(hint).await {
            Ok(()) => {
                inbox.held_hints().stored();
                [pause, _] = HINT_PAUSES;
            }
            Err(error) if error.is_transient() => {
                telemetry::store_failed("hint", &error);
                sleep(pause).await;
                pause = (pause * 2).min(longest);
            }
            Err(error) => return telemetry::store_failed("hint", &error),
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inbox").field(&self.0.store).finish()
    }
}
