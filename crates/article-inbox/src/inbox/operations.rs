use article_webhook::JobId;

use super::Inbox;
use crate::{
    Body, Counts, Entry, Error, Filter, Key, Page,
    store::{Hint, Prune, Pruned},
};

/// For tools and operators. All of them fail while the store is down, and after `close`.
impl Inbox {
    /// How many entries stand where. Reads the whole index: seconds when there are millions.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let post = Post::complete().job_id("job_1");
    /// # let delivery = fixture::receiver().open(post.headers())?.read(post.body().clone())?;
    /// use article_inbox::{Inbox, State};
    ///
    /// let inbox = Inbox::memory();
    /// assert_eq!(inbox.counts().await?.total(), 0);
    /// inbox.accept(delivery).await;
    /// assert_eq!(inbox.counts().await?.of(State::Waiting), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn counts(&self) -> Result<Counts, Error> {
        self.0.store.counts().await
    }

    /// Entries that pass a filter, the oldest first, a page at a time.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Filter, Inbox, State};
    ///
    /// let inbox = Inbox::memory();
    /// let mut filter = Filter { state: Some(State::Dead), ..Filter::default() };
    /// loop {
    ///     let page = inbox.list(filter.clone()).await?;
    ///     page.entries.iter().for_each(|entry| println!("{} {:?}", entry.key, entry.cause));
    ///     let Some(next) = page.next else { break };
    ///     filter.after = next;
    /// }
    /// # Ok::<(), article_inbox::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn list(&self, filter: Filter) -> Result<Page, Error> {
        self.0.store.list(filter).await
    }

    /// One entry with its bodies, in the order they came.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let post = Post::complete().job_id("job_1");
    /// # let delivery = fixture::receiver().open(post.headers())?.read(post.body().clone())?;
    /// use article_inbox::{Inbox, Key};
    ///
    /// let (inbox, key) = (Inbox::memory(), Key::article("job_1".parse()?));
    /// assert_eq!(inbox.show(key.clone()).await?, None);
    /// inbox.accept(delivery).await;
    /// let (entry, bodies) = inbox.show(key).await?.ok_or("no such entry")?;
    /// assert_eq!((entry.attempts, bodies.len()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn show(&self, key: Key) -> Result<Option<(Entry, Vec<Body>)>, Error> {
        self.0.store.show(key).await
    }

    /// Lets an entry that is dead, unhandled or corrupt be tried again from the first attempt. `false` if there is
    /// none.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Inbox, Key};
    ///
    /// let nobody = Key::article("job_1".parse()?);
    /// assert!(!Inbox::memory().requeue(nobody).await?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn requeue(&self, key: Key) -> Result<bool, Error> {
        let requeued = self.0.store.requeue(key).await?;
        if requeued {
            self.0.wake.wake();
        }
        Ok(requeued)
    }

    /// Gives up an entry that is waiting, unhandled or corrupt. `false` if there is none.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::{Inbox, Key};
    ///
    /// let nobody = Key::article("job_1".parse()?);
    /// assert!(!Inbox::memory().bury(nobody, "the order was cancelled").await?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn bury(&self, key: Key, cause: impl Into<String>) -> Result<bool, Error> {
        self.0.store.bury(key, cause.into()).await
    }

    /// Removes a batch of what is older than the times given. A worker does this by itself.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use std::time::{Duration, SystemTime};
    /// use article_inbox::{Inbox, store::Prune};
    ///
    /// let week_ago = SystemTime::now() - Duration::from_secs(7 * 24 * 3600);
    /// let prune = Prune { bodies_before: week_ago, entries_before: week_ago, limit: 100 };
    /// let pruned = Inbox::memory().prune(prune).await?;
    /// assert_eq!((pruned.bodies, pruned.entries, pruned.more), (0, 0, false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, Error> {
        self.0.store.prune(prune).await
    }

    /// Erases everything about a job, so that no file of the store holds any of it, and says how many entries
    /// there were. If the service delivers the job again, that is a new one.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// assert_eq!(article_inbox::Inbox::memory().forget("job_1".parse()?).await?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn forget(&self, job_id: JobId) -> Result<u64, Error> {
        self.0.store.forget(job_id).await
    }

    /// Jobs of which an authentic delivery was refused, the oldest first: a reason to ask the API for them.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use article_webhook::{Sink, fixture::{self, Post, Spoil}};
    /// # let post = Post::complete().job_id("job_1").spoiled(Spoil::TruncatedBody);
    /// # let refused = fixture::receiver().open(post.headers())?.read(post.body().clone()).unwrap_err();
    /// use article_inbox::Inbox;
    ///
    /// let inbox = Inbox::memory();
    /// assert!(inbox.hints(10).await?.is_empty());
    /// inbox.refused(&refused);
    /// # while inbox.health().await.hints_held > 0 { tokio::task::yield_now().await }
    /// let hint = &inbox.hints(10).await?[0];
    /// assert_eq!((hint.job_id.as_str(), &*hint.code), ("job_1", "malformed_json"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn hints(&self, limit: u32) -> Result<Vec<Hint>, Error> {
        self.0.store.hints(limit).await
    }

    /// Looks for damage, through everything that is stored. Each finding is a sentence; none is good news.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// assert!(article_inbox::Inbox::memory().check().await.unwrap().is_empty());
    /// # });
    /// ```
    pub async fn check(&self) -> Result<Vec<String>, Error> {
        self.0.store.check().await
    }
}
