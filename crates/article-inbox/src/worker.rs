//! Works on what the inbox holds.

mod attempt;
mod driver;
mod failed;
mod job;
mod reading;
mod thread;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use crate::{
    Error, Store,
    inbox::Wake,
    rules::{backoff::Backoff, retention::Retention},
    telemetry,
};

pub use failed::Failed;
pub use job::Job;

use attempt::Attempt;
use driver::Driver;

type Handled = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;
type Handler = Arc<dyn Fn(Job) -> Handled + Send + Sync>;

/// Hands the articles of an inbox to a handler, each until it succeeds or its attempts are used up.
///
/// At least once: a handler that succeeded is started again if the process ends before that could be stored, so
/// make its effects repeatable, with the [job id](Job::job_id) as their key, or part of a transaction with the
/// [completion](Job::completion). An attempt counts from its start, so that an article which kills the process
/// does not do so for ever.
///
/// Every setting is brought into its bounds; no time is longer than a year.
///
/// ```
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::Duration;
/// use article_inbox::{Failed, Inbox, Job, State};
/// # use article_webhook::{Sink, fixture::{self, Post}};
///
/// let inbox = Inbox::memory();
/// # let post = Post::complete();
/// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
/// let publish = |job: Job| async move {
///     if job.attempt() == 1 {
///         return Err(Failed::retry_after("the blog is down", Duration::ZERO));
///     }
///     println!("published {}", job.job_id());
///     Ok(())
/// };
/// # let counts = inbox.clone();
/// # let shutdown = async move { while counts.counts().await.unwrap().of(State::Done) == 0 { tokio::task::yield_now().await } };
/// inbox.worker(publish).concurrency(2).attempts(3).run(shutdown).await?;
/// assert_eq!(inbox.counts().await?.of(State::Done), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[must_use = "a worker does nothing until it is run"]
pub struct Worker {
    handler: Handler,
    store: Arc<dyn Store>,
    wake: Wake,
    limits: Limits,
    retention: Retention,
}

/// The longest time that a setting can name: longer than any makes sense, and short enough to be added to any time.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

#[derive(Debug, Clone)]
struct Limits {
    concurrency: u32,
    attempts: u32,
    backoff: Backoff,
    lease: Duration,
    handler: Duration,
    grace: Duration,
    poll: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 4,
            attempts: 8,
            backoff: Backoff::default(),
            lease: Duration::from_secs(60),
            handler: Duration::from_secs(300),
            grace: Duration::from_secs(25),
            poll: Duration::from_secs(5),
        }
    }
}

impl Worker {
    pub(crate) fn new<H, F>(store: Arc<dyn Store>, wake: Wake, handler: H) -> Self
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |job| Box::pin(handler(job)));
        Self { handler, store, wake, limits: Limits::default(), retention: Retention::default() }
    }

    /// At most so many attempts at once, each in a thread of its own. Default: 4; at least 1.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// # use std::time::Duration;
    /// let worker = inbox.worker(|_| async { Ok(()) }).concurrency(8);
    /// assert!(format!("{worker:?}").contains("concurrency: 8"));
    /// let worker = inbox.worker(|_| async { Ok(()) }).concurrency(0);
    /// assert!(format!("{worker:?}").contains("concurrency: 1"));
    /// ```
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.limits.concurrency = concurrency.max(1);
        self
    }

    /// How many attempts an entry may have before it is dead. Default: 8; at least 1.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// # use std::time::Duration;
    /// let worker = inbox.worker(|_| async { Ok(()) }).attempts(3);
    /// assert!(format!("{worker:?}").contains("attempts: 3"));
    /// let worker = inbox.worker(|_| async { Ok(()) }).attempts(0);
    /// assert!(format!("{worker:?}").contains("attempts: 1"));
    /// ```
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.limits.attempts = attempts.max(1);
        self
    }

    /// The pause after a first failed attempt, and the longest one; each is three times the one before, less up to
    /// a fifth by chance; a day at most. Default: 10 seconds, an hour.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// # use std::time::Duration;
    /// let worker = inbox.worker(|_| async { Ok(()) }).backoff(Duration::from_secs(1), Duration::from_secs(60));
    /// assert!(format!("{worker:?}").contains("first: 1s, longest: 60s"));
    /// let worker = inbox.worker(|_| async { Ok(()) }).backoff(Duration::from_secs(60), Duration::ZERO);
    /// assert!(format!("{worker:?}").contains("first: 60s, longest: 60s"));
    /// ```
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        let first = first.min(LONGEST);
        self.limits.backoff = Backoff { first, longest: longest.clamp(first, LONGEST) };
        self
    }

    /// How long an attempt may take before its handler is ended and the attempt has failed. A handler that never
    /// waits cannot be ended: it keeps its thread, and its effects are its own. Default: 5 minutes.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use std::time::Duration;
    /// # use article_inbox::{Inbox, Key, State};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    /// # let dead = async { while inbox.counts().await.unwrap().of(State::Dead) == 0 { tokio::task::yield_now().await } };
    /// let worker = inbox.worker(|_| std::future::pending()).attempts(1);
    /// worker.handler_timeout(Duration::from_millis(10)).run(dead).await?;
    /// let (entry, _) = inbox.show(Key::article("job_1".parse()?)).await?.ok_or("no such entry")?;
    /// assert_eq!(entry.cause.as_deref(), Some("the handler did not end within 10ms"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn handler_timeout(mut self, limit: Duration) -> Self {
        self.limits.handler = limit.min(LONGEST);
        self
    }

    /// How long the right to work on an entry lasts when the process is gone; while it lives, the right is renewed
    /// at each third. Default: a minute; at least 100 milliseconds.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// # use std::time::Duration;
    /// let worker = inbox.worker(|_| async { Ok(()) }).lease(Duration::from_secs(30));
    /// assert!(format!("{worker:?}").contains("lease: 30s"));
    /// let worker = inbox.worker(|_| async { Ok(()) }).lease(Duration::ZERO);
    /// assert!(format!("{worker:?}").contains("lease: 100ms"));
    /// ```
    pub fn lease(mut self, lease: Duration) -> Self {
        self.limits.lease = lease.clamp(Duration::from_millis(100), LONGEST);
        self
    }

    /// How long handlers may go on after `shutdown` before their entries are given back. Default: 25 seconds,
    /// within the 30 that most platforms give.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// # use std::time::Duration;
    /// let worker = inbox.worker(|_| async { Ok(()) }).grace(Duration::from_secs(8));
    /// assert!(format!("{worker:?}").contains("grace: 8s"));
    /// ```
    pub fn grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace.min(LONGEST);
        self
    }

    /// How often entries are looked for that another process stored. What this process stores is worked on at
    /// once. Default: 5 seconds; at least 10 milliseconds.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// # use std::time::Duration;
    /// let worker = inbox.worker(|_| async { Ok(()) }).poll(Duration::from_secs(1));
    /// assert!(format!("{worker:?}").contains("poll: 1s"));
    /// let worker = inbox.worker(|_| async { Ok(()) }).poll(Duration::ZERO);
    /// assert!(format!("{worker:?}").contains("poll: 10ms"));
    /// ```
    pub fn poll(mut self, poll: Duration) -> Self {
        self.limits.poll = poll.clamp(Duration::from_millis(10), LONGEST);
        self
    }

    /// How long what is done is kept. Default: bodies 7 days, the rest 30.
    ///
    /// ```
    /// # let inbox = article_inbox::Inbox::memory();
    /// use std::time::Duration;
    /// use article_inbox::Retention;
    ///
    /// let day = Duration::from_secs(24 * 3600);
    /// let worker = inbox.worker(|_| async { Ok(()) }).retention(Retention::new(day, 90 * day)?);
    /// assert!(Retention::new(Duration::ZERO, day).is_err());
    /// # Ok::<(), article_inbox::Error>(())
    /// ```
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Works until `shutdown` is ready. Then nothing more is claimed, handlers have the
    /// [grace](Self::grace) to end, and what they leave is given back without costing an attempt. A store that
    /// fails for a while is waited for.
    ///
    /// # Errors
    ///
    /// The store is closed, damaged, or cannot be used any more.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::Inbox;
    ///
    /// let inbox = Inbox::memory();
    /// inbox.worker(|_| async { Ok(()) }).run(std::future::ready(())).await.unwrap();
    ///
    /// inbox.close().await.unwrap();
    /// let error = inbox.worker(|_| async { Ok(()) }).run(std::future::pending::<()>()).await.unwrap_err();
    /// assert_eq!(error.to_string(), "the inbox is closed");
    /// # });
    /// ```
    pub async fn run(self, shutdown: impl Future) -> Result<(), Error> {
        let Self { handler, store, wake, limits, retention } = self;
        let attempt = Attempt { handler, store, limits, threads: Arc::default() };
        Driver::new(wake, retention, attempt)
            .run(shutdown)
            .await
            .inspect_err(telemetry::worker_failed)
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("store", &self.store)
            .field("limits", &self.limits)
            .field("retention", &self.retention)
            .finish_non_exhaustive()
    }
}
