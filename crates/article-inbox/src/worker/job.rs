use std::{fmt, sync::Arc, time::SystemTime};

use article_webhook::{ArticleResult, Event, JobId};

use crate::{
    Body, Completion, Error, Source, Store,
    store::{Claimed, Lease},
};

/// One attempt at an entry: what a handler is given.
///
/// ```
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::{Failed, Inbox, Job};
/// # use article_webhook::{Sink, fixture::{self, Post}};
///
/// async fn publish(job: Job) -> Result<(), Failed> {
///     let (key, title) = (job.job_id(), &job.article().article.title);
///     if title.is_empty() {
///         return Err(Failed::dead("an article without a title"));
///     }
///     println!("publishing {key}, attempt {}, unless it is published already", job.attempt());
///     Ok(())
/// }
///
/// let inbox = Inbox::memory();
/// # let post = Post::complete();
/// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
/// let until_it_is_done = async { while inbox.counts().await.unwrap().of(article_inbox::State::Done) == 0 { tokio::task::yield_now().await } };
/// inbox.worker(publish).run(until_it_is_done).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Job {
    lease: Lease,
    event: Event,
    attempt: u32,
    received_at: SystemTime,
    body: Body,
    article: ArticleResult,
    store: Arc<dyn Store>,
}

impl Job {
    pub(crate) fn new(
        claimed: Claimed,
        body: Body,
        article: ArticleResult,
        store: Arc<dyn Store>,
    ) -> Self {
        let Claimed { lease, key, attempt, received_at, .. } = claimed;
        Self { lease, event: key.event, attempt, received_at, body, article, store }
    }

    /// The job, which is the idempotency key: a handler may be started more than once for it.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert_eq!(job.job_id().as_str(), "job_1");
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.article.job_id
    }

    /// What happened to it.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert_eq!(job.event().as_str(), "article.complete");
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Which attempt this is, from 1.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert_eq!(job.attempt(), 1);
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The label of the publish target whose token the sender presented.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert_eq!(job.target(), "default");
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn target(&self) -> &str {
        &self.body.target
    }

    /// The intent of the capability URL it was delivered to; `None` for a delivery by token.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert_eq!(job.intent(), None);
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.body.intent.as_deref()
    }

    /// How the article came.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job, Source};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert_eq!(job.source(), Source::Webhook);
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn source(&self) -> Source {
        self.body.source
    }

    /// When the first body of the entry was stored.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert!(job.received_at() <= std::time::SystemTime::now() + std::time::Duration::from_secs(1));
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn received_at(&self) -> SystemTime {
        self.received_at
    }

    /// The article.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert!(!job.article().article.title.is_empty());
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn article(&self) -> &ArticleResult {
        &self.article
    }

    /// The body that the article was read from, byte for byte.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     assert!(job.body().starts_with(b"{"));
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[allow(clippy::missing_panics_doc)] // it is made of a body that was decoded
    #[must_use]
    pub fn body(&self) -> &bytes::Bytes {
        self.body.bytes.as_ref().expect("a job is made of a body that was decoded")
    }

    /// For effects in the same database that are to happen exactly once: a statement that completes this job, for
    /// a transaction of your own. It changes one row, or none when the lease is lost: then roll back. After
    /// the commit return `Ok(())`.
    ///
    /// With [`SqliteStore`](crate::SqliteStore), open the same file, set `PRAGMA wal_autocheckpoint = 0` and a
    /// `busy_timeout`, and keep the transaction short: deliveries wait for it.
    ///
    /// # Errors
    ///
    /// The store knows no SQL, or is not to be written to by others.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Failed, Job};
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let inbox = article_inbox::Inbox::memory();
    /// # let post = Post::complete().job_id("job_1");
    /// # inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
    ///
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     let error = job.completion().unwrap_err();
    ///     assert_eq!(error.to_string(), "a store in memory knows no SQL: complete by returning Ok");
    ///     Ok(())
    /// }
    /// # let waiting = async { while inbox.counts().await.unwrap().of(article_inbox::State::Waiting) > 0 { tokio::task::yield_now().await } };
    /// # inbox.worker(publish).attempts(1).run(waiting).await?;
    /// # assert_eq!(inbox.counts().await?.of(article_inbox::State::Done), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
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
