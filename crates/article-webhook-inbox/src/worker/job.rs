mod failed_job;
mod undecodable_job;

use std::{fmt, sync::Arc, time::SystemTime};

use article_webhook::{ArticleResult, Event, JobId};

use crate::{
    Body, Error, Source,
    call::{Claimed, Completion, Lease},
    store::Ledger,
};

pub use failed_job::FailedJob;
pub use undecodable_job::UndecodableJob;

/// One attempt at an entry: the argument of a handler.
///
/// ```
/// use article_webhook_inbox::{Failed, Inbox, Job, State};
/// use article_webhook::{Sink, fixture};
///
/// async fn publish(job: Job) -> Result<(), Failed> {
///     let (key, title) = (job.job_id(), &job.article().article.title);
///     if title.is_empty() {
///         return Err(Failed::dead("an article without a title"));
///     }
///     println!("attempt {}: publishing {key} from target {}", job.attempt(), job.target());
///     Ok(())
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().delivery()?).await;
///     inbox.worker(publish).run_until_idle().await?;
///     assert_eq!(inbox.counts().await?.of(State::Done), 1);
///     Ok(())
/// }
/// ```
///
/// # Exactly once
///
/// Effects that are rows in the inbox's own database can happen exactly once: one transaction makes them and completes
/// the job, or neither happens. [`completion`](Self::completion) is the statement for that, for any driver of the
/// database. `cargo run --example exactly_once` shows both outcomes. `cargo run --example hand_over` is for effects
/// elsewhere, such as a job queue.
///
/// ```
/// use std::{path::Path, time::Duration};
/// use article_webhook_inbox::{Failed, Job};
/// use rusqlite::{Connection, TransactionBehavior, params_from_iter};
///
/// fn connect(path: &Path) -> rusqlite::Result<Connection> {
///     let connection = Connection::open(path)?;
///     connection.busy_timeout(Duration::from_secs(2))?;
///     connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?; // checkpoints belong to the inbox
///     Ok(connection)
/// }
///
/// fn store(job: &Job, application: &mut Connection) -> Result<(), Failed> {
///     let transaction = application.transaction_with_behavior(TransactionBehavior::Immediate)?;
///     let row = (job.job_id().as_str(), &job.article().article.title);
///     transaction.execute("INSERT INTO articles (job_id, title) VALUES (?1, ?2)", row)?;
///     let completion = job.completion()?;
///     let changed = transaction.execute(completion.sql(), params_from_iter(completion.parameters()))?;
///     completion.check(changed)?; // an error: the transaction is rolled back, and another worker makes the row
///     Ok(transaction.commit()?)
/// }
/// ```
///
/// Keep such a transaction short: deliveries wait for it, and are answered 503 after two seconds. In PostgreSQL no delivery
/// waits for it; the page of `article-webhook-postgres` shows it with tokio-postgres, sqlx and diesel.
pub struct Job {
    lease: Lease,
    event: Event,
    attempt: u32,
    received_at: SystemTime,
    intent: Option<Box<str>>,
    body: Body,
    article: ArticleResult,
    store: Arc<dyn Ledger>,
}

impl Job {
    pub(super) fn new(
        claimed: Claimed,
        body: Body,
        article: ArticleResult,
        store: Arc<dyn Ledger>,
    ) -> Self {
        let Claimed { lease, key, attempt, received_at, bodies, .. } = claimed;
        let intent = [&body].into_iter().chain(&bodies).find_map(|body| body.intent.clone());
        Self { lease, event: key.event, attempt, received_at, intent, body, article, store }
    }

    /// The job. It is the idempotency key, because a handler may run more than once for it.
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.article.job_id
    }

    /// The event that was delivered.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The number of this attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The label of the publish target whose token the sender presented.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.body.target
    }

    /// The intent of the capability URL that it was delivered to. If copies of the job came to a publish target and to
    /// such a URL, it is there whichever came first, and even if another copy was decoded. `None` if it was delivered
    /// by tokens alone.
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// How the article reached the inbox.
    #[must_use]
    pub fn source(&self) -> Source {
        self.body.source
    }

    /// When the first body of the entry was stored.
    #[must_use]
    pub fn received_at(&self) -> SystemTime {
        self.received_at
    }

    /// The article.
    #[must_use]
    pub fn article(&self) -> &ArticleResult {
        &self.article
    }

    /// The body that the article was decoded from, as it was received.
    #[allow(clippy::missing_panics_doc, reason = "a job has a body that was decoded")]
    #[must_use]
    pub fn body(&self) -> &bytes::Bytes {
        self.body.bytes.as_ref().expect("a job has a body that was decoded")
    }

    /// A statement that completes this job in a transaction of your own. It changes one row, or none if the lease is
    /// lost: [`check`](Completion::check) tells, and then roll back. After the commit, return `Ok(())`. See
    /// [exactly once](#exactly-once).
    ///
    /// With [`SqliteStore`](crate::SqliteStore), open the same file, set `PRAGMA wal_autocheckpoint = 0` and a
    /// `busy_timeout`, and keep the transaction short: deliveries wait for it.
    ///
    /// # Errors
    ///
    /// The store has no SQL, or no other connection may write to it: a SQLite before 3.51.3 may lose commits of two
    /// connections. One build links one SQLite, so a crate such as sqlx 0.8 (SQLite 3.46) keeps rusqlite at a version
    /// with an older one. Until that crate is updated, make the effects repeatable: write rows with the job id as a
    /// unique key, and return `Ok`. An attempt that runs again then finds its row.
    pub fn completion(&self) -> Result<Completion, Error> {
        self.store.completion(self.lease)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("job_id", self.job_id())
            .field("event", &self.event)
            .field("attempt", &self.attempt)
            .field("lease", &self.lease)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}
