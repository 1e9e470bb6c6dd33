//! Works on the entries of an inbox.

mod failed;
mod retention;
mod settings;
mod status;

mod attempt;
mod job;

mod schedule;

mod run;

use std::{fmt, future::pending, sync::Arc, time::Duration};

use crate::{Error, store::Store};

pub use failed::Failed;
pub use job::{Job, JobFailure, JobKind};
pub use retention::Retention;
pub(crate) use status::Registry;
pub use status::{StuckHandler, WorkerFailure, Workers};

use attempt::{Attempts, Handlers, boxed};
use run::{Until, run};
use settings::{Backoff, Settings};

/// Runs a handler for each article of an inbox, until the handler succeeds or no attempt is left.
///
/// An article is handled *at least once*. A handler that succeeded runs again if the process ends before its success is
/// stored. Make its effects repeatable, with the [job id](Job::job_id) as their key, or part of one transaction with
/// the [completion](Job::completion). An attempt counts when it begins, so that an article which kills the process runs
/// out of attempts. An article whose last two attempts did not end runs alone: no other handler of the inbox runs beside it,
/// so that none loses an attempt if it kills the process again. If the process ends under a last attempt, the article has
/// one more, alone: another may have been the cause.
///
/// Articles that had no attempt go first, and each fourth claim takes one that failed before, so that neither kind waits
/// for the other.
///
/// A setting out of range is an error of [`run`](Self::run). Apart from the bounds in the table, no time may be longer
/// than a year.
///
/// | setting | default | minimum |
/// |---|---|---|
/// | [`concurrency`](Self::concurrency) | 4 | 1 |
/// | [`attempts`](Self::attempts) | 8 | 1 |
/// | [`backoff`](Self::backoff) | 10 seconds, 1 hour | 0; at most a day |
/// | [`handler_timeout`](Self::handler_timeout) | 5 minutes | 0 |
/// | [`lease`](Self::lease) | 1 minute | 100 milliseconds |
/// | [`shutdown_grace`](Self::shutdown_grace) | 25 seconds | 0 |
/// | [`poll`](Self::poll) | 5 seconds | 10 milliseconds |
/// | [`retention`](Self::retention) | 7, 30 and 365 days | 1 hour |
/// | [`stuck_handlers`](Self::stuck_handlers) | 64 | 1 |
///
/// ```
/// use std::time::Duration;
/// use article_webhook_inbox::{Failed, Inbox, Job, State};
/// use article_webhook::{Sink, fixture};
///
/// async fn publish(job: Job) -> Result<(), Failed> {
///     if job.attempt() == 1 {
///         return Err(Failed::retry_after("the blog is down", Duration::ZERO));
///     }
///     println!("published {}", job.job_id());
///     Ok(())
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().delivery()?).await;
///
///     // An application runs it until a signal. This example runs until the work is done.
///     inbox.worker(publish).concurrency(2).attempts(3).run_until_idle().await?;
///     assert_eq!(inbox.counts().await?.of(State::Done), 1);
///
///     let error = inbox.worker(publish).attempts(0).run(async {}).await.unwrap_err();
///     assert_eq!(error.to_string(), "worker: attempts: expected at least 1, found 0");
///     Ok(())
/// }
/// ```
#[must_use = "a worker does nothing until it is run"]
pub struct Worker {
    handlers: Handlers,
    store: Arc<dyn Store>,
    registry: Registry,
    settings: Settings,
}

impl Worker {
    pub(crate) fn new<H, F>(store: Arc<dyn Store>, registry: Registry, handler: H) -> Self
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        let handlers = Handlers::new(boxed(handler));
        Self { handlers, store, registry, settings: Settings::default() }
    }

    /// Also runs this handler, for each job that the service gave up: a poll of the API, for example by the collector,
    /// brought `generation_failed`. Everything that is documented about articles holds for failures: at least once, attempts,
    /// pauses, dead entries, time limits, and the shutdown. If the article comes after all, the other handler gets it,
    /// and a failure that no attempt has ended with is not handed out any more.
    ///
    /// A job that was opened again may fail again. Another answer of the service is handed out as the first was. The very
    /// same answer is not.
    ///
    /// A worker without this handler leaves failures alone, and they wait for one that has it: it says so in the log, and
    /// [`Health::overdue`](crate::Health::overdue) and [`Workers::failures_wait`] show it.
    ///
    /// ```
    /// use article_webhook_inbox::{Failed, Inbox, Job, State};
    /// # use article_webhook_inbox::{Digest, EntryKey, Source, store};
    ///
    /// async fn tell_the_author(job: Job) -> Result<(), Failed> {
    ///     let step = job.failure()?.step.as_deref().ok_or_else(|| Failed::dead("no step is named"))?;
    ///     println!("{} failed at {step}, attempt {}", job.job_id(), job.attempt());
    ///     Ok(())
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// #     let named = r#"{"error":"generation_failed","message":"","details":{"step":"outline"}}"#;
    ///     let inbox = Inbox::memory();
    /// #     for (job, says) in [("job_1", named), ("job_2", "{}")] {
    /// #         let arrival = store::Arrival {
    /// #             key: EntryKey::failure(job.parse()?),
    /// #             source: Source::Api,
    /// #             target: "api".into(),
    /// #             intent: Some("post-17".into()),
    /// #             digest: Digest::of(says.as_bytes()),
    /// #             bytes: says.into(),
    /// #         };
    /// #         inbox.ledger().record(arrival).await?;
    /// #     }
    ///     // A collector has stored the service's answers about two jobs. One names a step.
    ///     let publish = |_| async { Ok(()) };
    ///     inbox.worker(publish).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Waiting), 2, "it has no handler for them");
    ///
    ///     inbox.worker(publish).on_failure(tell_the_author).run_until_idle().await?;
    ///     let counts = inbox.counts().await?;
    ///     assert_eq!((counts.of(State::Done), counts.of(State::Dead)), (1, 1));
    ///     Ok(())
    /// }
    /// ```
    pub fn on_failure<H, F>(mut self, handler: H) -> Self
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        self.handlers.failure = Some(boxed(handler));
        self
    }

    /// Also runs this handler, for each delivery that is no article to this version: its event is another, or no body of its
    /// entry decodes. Without this handler such an entry is [unhandled](crate::State::Unhandled), and costs no attempt. With
    /// it, everything holds that is documented about articles: at least once, attempts, pauses, dead entries and time limits.
    ///
    /// It is for what passes deliveries on to an application that reads them by itself. Once the handler has succeeded the
    /// entry is done: another body of the job that comes later is kept, and not handed out.
    ///
    /// ```
    /// use article_webhook_inbox::{Failed, Inbox, State, Job};
    /// use article_webhook::{Sink, fixture};
    ///
    /// async fn pass_on(job: Job) -> Result<(), Failed> {
    ///     println!("{} of {}: {} bytes", job.event().as_str(), job.job_id(), job.body().len());
    ///     Ok(())
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     let publish = |_| async { Ok(()) };
    ///     let retracted = fixture::complete().header("X-Service-Event", "article.retracted");
    ///     inbox.accept(retracted.delivery()?).await;
    ///     inbox.worker(publish).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Unhandled), 1, "the worker has no handler for this event");
    ///
    ///     let entry = inbox.list(Default::default()).await?.items.remove(0);
    ///     inbox.requeue(entry.key).await?;
    ///     inbox.worker(publish).on_undecodable(pass_on).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Done), 1);
    ///     Ok(())
    /// }
    /// ```
    pub fn on_undecodable<H, F>(mut self, handler: H) -> Self
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        self.handlers.undecodable = Some(boxed(handler));
        self
    }

    /// Maximum number of attempts at the same time. Each attempt has a thread of its own, in the context of the runtime that
    /// runs the worker. There it may use Tokio's timers, sockets and tasks, and it may block: with blocking I/O,
    /// `Handle::block_on`, a runtime of its own, or a client that has one, such as `reqwest::blocking` or `postgres`. It
    /// blocks no other task.
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.settings.concurrency = concurrency;
        self
    }

    /// How many attempts an entry may have before it is dead. An attempt counts when its entry is claimed. If the process
    /// ends under the last one, one more follows, while no other handler of the inbox runs.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.settings.attempts = attempts;
        self
    }

    /// The pause after the first failed attempt, and the longest pause. Each pause is three times the last one, minus a
    /// random part of at most a fifth.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.settings.backoff = Backoff { first, longest };
        self
    }

    /// How long an attempt may take. After that its handler is cancelled at the next `await` at which it waits, and the
    /// attempt has failed. A handler that never waits there cannot be cancelled: it keeps its thread until it returns,
    /// the next attempt at the same job may begin beside it, and what it returns is ignored.
    pub fn handler_timeout(mut self, limit: Duration) -> Self {
        self.settings.handler_timeout = limit;
        self
    }

    /// How soon another worker may take over an entry after this process has died. A running worker renews its leases
    /// after each third of this time.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// How long handlers may continue after `shutdown`, before their entries are released. The default stays within the
    /// 30 seconds that most platforms give.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// How often the store is polled for entries from another process; each worker subtracts a random part of at most a
    /// fifth. Entries that this process stores are processed at once.
    pub fn poll(mut self, poll: Duration) -> Self {
        self.settings.poll = poll;
        self
    }

    /// How long entries, and jobs of the ledger, are kept after they ended.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.settings.retention = retention;
        self
    }

    /// How many handlers may go on after their attempts were given up. Each keeps a thread. When there are as many in
    /// this inbox, the worker claims nothing until one of them ends: it says so in the log and lists them in
    /// [`Health::stuck`](crate::Health::stuck). Restart the program if none of them will end.
    pub fn stuck_handlers(mut self, limit: usize) -> Self {
        self.settings.stuck_handlers = limit;
        self
    }

    /// Runs until `shutdown` resolves. Then it claims nothing more, handlers have the [grace](Self::shutdown_grace) period to
    /// finish, and unfinished entries are released without counting the attempt.
    ///
    /// While the store fails temporarily or finds damage, the worker retries. Any other error ends it. Such an end must
    /// not end the receiver, so that articles are stored until someone has repaired what is wrong: run the worker in a
    /// task of its own, as below. Its end is logged, counted, and shown by [`Health::workers`](crate::Health::workers).
    ///
    /// If the future or its runtime is dropped, handlers that run are cancelled: their attempts count, and their entries are
    /// due again after the [lease](Self::lease). What a claim under way leases is due again when its lease ends.
    ///
    /// ```
    /// use article_webhook_inbox::{Failed, Inbox, Job};
    /// use article_webhook::{Reply, Sink, fixture};
    ///
    /// async fn publish(_: Job) -> Result<(), Failed> {
    ///     Ok(())
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     let wrong = inbox.worker(publish).concurrency(0);
    ///     let worker = tokio::spawn(wrong.run(std::future::pending::<()>())); // or until a signal
    ///     assert!(worker.await?.is_err());
    ///
    ///     // The inbox still stores.
    ///     let delivery = fixture::complete().delivery()?;
    ///     assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    ///     let failure = inbox.health().await.workers.failure.unwrap();
    ///     assert_eq!(failure.error.to_string(), "worker: concurrency: expected at least 1, found 0");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// A setting is out of range: then nothing was claimed. The inbox is closed, or its store cannot be used until an
    /// operator changes something.
    pub async fn run(self, shutdown: impl Future) -> Result<(), Error> {
        self.run_until(Until::Stopped, shutdown).await
    }

    /// Runs what is due, until nothing is due and no handler runs. An entry that waits for its next attempt stays. For
    /// tests of a handler, and for programs that are started from time to time.
    ///
    /// ```
    /// use article_webhook_inbox::{Failed, Inbox, Job, State};
    /// use article_webhook::{Sink, fixture};
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     match job.article()?.article.title.as_str() {
    ///         "" => Err(Failed::dead("an article without a title")),
    ///         _ => Ok(()),
    ///     }
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
    ///     inbox.accept(fixture::minimal().job_id("job_2").delivery()?).await;
    ///     inbox.worker(publish).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Done), 2);
    ///
    ///     inbox.close().await?;
    ///     let error = inbox.worker(publish).run_until_idle().await.unwrap_err();
    ///     assert_eq!(error.to_string(), "the inbox is closed");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run). While the store fails temporarily, it goes on trying.
    pub async fn run_until_idle(self) -> Result<(), Error> {
        self.run_until(Until::Idle, pending::<()>()).await
    }

    async fn run_until(self, until: Until, shutdown: impl Future) -> Result<(), Error> {
        let Self { handlers, store, registry, settings } = self;
        let running = registry.start_worker(Arc::clone(&store), handlers.events());
        let ended = match settings.check() {
            Ok(()) => run(Attempts { handlers, store, settings, registry }, until, shutdown).await,
            Err(error) => Err(error),
        };
        running.end(&ended);
        ended
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("store", &self.store)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
