use std::time::SystemTime;

use article_webhook::JobId;

use super::Inbox;
use crate::{
    Body, Entry, EntryKey, Error, State,
    call::{
        CauseCount, Counts, ExpectedJob, Filter, Finding, HourCount, JobFilter, ListOrder, Page,
        Prune, Pruned,
    },
    timestamp::rounded,
};

/// How many entries are requeued in one transaction, so that a delivery does not wait long for it.
const ENTRIES_PER_TRANSACTION: u32 = 250;

/// What [`Inbox::requeue_all`] did.
///
/// ```
/// use article_webhook_inbox::{Filter, Inbox, State};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let dead = Filter { state: Some(State::Dead), ..Filter::default() };
///     let requeued = Inbox::memory().requeue_all(dead).await?;
///     assert_eq!((requeued.count, requeued.at), (0, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requeued {
    /// How many entries were requeued.
    pub count: u64,
    /// When: [`Inbox::causes_of_requeued`] shows by it what became of them. `None` if none was requeued.
    pub at: Option<SystemTime>,
}

/// Operations for tools and operators. All of them fail while the store is down, and after `close`.
impl Inbox {
    /// How many entries are in each state. It reads a whole index, which takes seconds for millions of entries.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn counts(&self) -> Result<Counts, Error> {
        self.0.store.counts().await
    }

    /// A page of the entries that pass a filter, in its order.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn list(&self, filter: Filter) -> Result<Page<Entry>, Error> {
        self.0.store.list(filter).await
    }

    /// Why entries are dead, unhandled, corrupt or quarantined: how many there are in each of these states for each
    /// [group](crate::cause_group) of causes. The largest groups come first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn causes(&self) -> Result<Vec<CauseCount>, Error> {
        self.0.store.causes(None).await
    }

    /// What became of the entries that were requeued at this time, which is that of [`Requeued::at`]: how many are in each state, and
    /// why those failed again that did.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn causes_of_requeued(&self, at: SystemTime) -> Result<Vec<CauseCount>, Error> {
        self.0.store.causes(Some(at)).await
    }

    /// How many entries arrived and died in each hour since this time, without hours in which nothing happened. It counts the newest
    /// 100,000 entries.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn history(&self, since: SystemTime) -> Result<Vec<HourCount>, Error> {
        self.0.store.hours(since).await
    }

    /// An entry with its bodies, in the order of their arrival.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn show(&self, key: EntryKey) -> Result<Option<(Entry, Vec<Body>)>, Error> {
        self.0.store.show(key).await
    }

    /// Requeues an entry, with all its attempts and due now: a waiting one before its time, a dead, unhandled or corrupt
    /// one for another try, and a done one to run its handler again. `false` if there is no such entry, if it is leased,
    /// or if it is done and [retention](crate::Retention) has removed its bodies.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn requeue(&self, key: EntryKey) -> Result<bool, Error> {
        Ok(self.requeue_page(vec![(key, None)], self.0.store.now()).await? > 0)
    }

    async fn requeue_page(
        &self,
        mut page: Vec<(EntryKey, Option<State>)>,
        at: SystemTime,
    ) -> Result<u64, Error> {
        let mut count = 0;
        while !page.is_empty() {
            let requeued = self.0.store.requeue(page.clone(), at).await?;
            page.drain(..requeued.len());
            count += requeued.into_iter().map(u64::from).sum::<u64>();
        }
        if count > 0 {
            self.0.workers.wake();
        }
        Ok(count)
    }

    /// A person has compared the orders of the application with the jobs of the service, after the ledger was salvaged with
    /// gaps: from now on, an intent that is not found is ordered, for the whole ledger. Until then its outcome is unknown, and
    /// [`LedgerCounts::gaps_since`](crate::LedgerCounts::gaps_since) says so. `false` if the ledger had no gaps.
    ///
    /// ```
    /// use article_webhook_inbox::Inbox;
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     assert!(!inbox.orders_checked().await?, "nothing is missing");
    /// #   inbox.ledger().note_gaps().await?;
    ///     // A salvage has found less than there was.
    ///     assert!(inbox.health().await.ledger?.counts.gaps_since.is_some());
    ///     assert!(inbox.orders_checked().await?);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn orders_checked(&self) -> Result<bool, Error> {
        self.0.store.orders_checked().await
    }

    /// Pauses the handing out of entries at once, for the workers of all processes that share the store: for a deployment, or while
    /// what the handlers need is down. Deliveries are stored as always, and handlers that run go on. The pause outlasts a
    /// restart. [`resume`](Self::resume) ends it. [`Health::paused_since`](crate::Health::paused_since) shows it and who paused, which
    /// is a name such as `ops@db1`. A second pause changes nothing.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, State};
    /// use article_webhook::{Reply, Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let (inbox, publish) = (Inbox::memory(), |_| async { Ok(()) });
    ///     inbox.pause("ops@db1").await?;
    ///     assert_eq!(inbox.accept(fixture::complete().delivery()?).await, Reply::Stored);
    ///     inbox.worker(publish).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Waiting), 1);
    ///
    ///     inbox.resume().await?;
    ///     inbox.worker(publish).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Done), 1);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn pause(&self, by: impl Into<Box<str>>) -> Result<(), Error> {
        self.0.store.pause(by.into()).await
    }

    /// Ends a [pause](Self::pause). The workers of all processes go on within a second.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn resume(&self) -> Result<(), Error> {
        self.0.store.resume().await?;
        self.0.workers.wake();
        Ok(())
    }

    /// Requeues all entries that pass a filter, as [`requeue`](Self::requeue) does one. The filter must name a state. Its `limit`
    /// does not matter. An entry that enters that state meanwhile may be left, and one that leaves it meanwhile stays as it is.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use article_webhook_inbox::{Filter, Inbox, State};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), article_webhook_inbox::Error> {
    ///     let inbox = Inbox::memory();
    ///     let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
    ///     let dead = Filter {
    ///         state: Some(State::Dead),
    ///         target: Some("blog".into()),
    ///         received_before: Some(yesterday),
    ///         ..Filter::default()
    ///     };
    ///     assert_eq!(inbox.requeue_all(dead).await?.count, 0);
    ///
    ///     let error = inbox.requeue_all(Filter::default()).await.unwrap_err();
    ///     assert_eq!(error.to_string(), "requeue_all: expected a state in the filter");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The filter names no state. The store failed: some of the entries are requeued, and the call can be repeated.
    pub async fn requeue_all(&self, filter: Filter) -> Result<Requeued, Error> {
        self.requeue_first(filter, u64::MAX).await
    }

    /// As [`requeue_all`](Self::requeue_all), for at most this many of the entries that pass the filter, the oldest: to see whether these
    /// fail again before the others are requeued.
    ///
    /// # Errors
    ///
    /// Those of [`requeue_all`](Self::requeue_all).
    pub async fn requeue_first(&self, filter: Filter, at_most: u64) -> Result<Requeued, Error> {
        if filter.state.is_none() {
            return Err(Error::invalid("requeue_all: expected a state in the filter"));
        }
        let at = rounded(self.0.store.now());
        let mut filter = Filter { order: ListOrder::OldestFirst, ..filter };
        let (mut count, mut left) = (0, at_most);
        while left > 0 {
            filter.limit = u32::try_from(left).unwrap_or(u32::MAX).min(ENTRIES_PER_TRANSACTION);
            let page = self.list(filter.clone()).await?;
            left -= page.items.len() as u64;
            // One that has left the state meanwhile stays as it is: it may be done now.
            let entries = page.items.into_iter().map(|entry| (entry.key, Some(entry.state)));
            count += self.requeue_page(entries.collect(), at).await?;
            // Entries are listed by ascending id, so none is visited twice.
            let Some(next) = page.next else { break };
            filter.after = next;
        }
        Ok(Requeued { count, at: (count > 0).then_some(at) })
    }

    /// Makes a waiting, unhandled or corrupt entry dead. `false` if there is no such entry.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn discard(&self, key: EntryKey, cause: impl Into<String>) -> Result<bool, Error> {
        let discarded = self.0.store.discard(vec![key], cause.into()).await?;
        Ok(discarded == [true])
    }

    /// Removes a batch of old bodies and entries. A worker does this automatically, once the store's clock has run
    /// steadily for a while; this call does not wait for that.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, Error> {
        self.0.store.prune(prune).await
    }

    /// Erases everything about a job, so that no file of the store contains any of it. Returns the number of entries.
    /// If the service delivers the job again, it is stored as a new one.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn erase(&self, job_id: JobId) -> Result<u64, Error> {
        // A delivery of it that was refused may wait to be stored as an expectation.
        let _expecting = self.0.expecting.read().await;
        self.expect_queue().remove(&job_id);
        let erased = self.0.store.erase(vec![job_id.clone()]).await;
        let mut queue = self.expect_queue();
        queue.remove(&job_id);
        queue.keep(|jobs| self.0.store.keep(jobs));
        drop(queue);
        Ok(erased?.into_iter().sum())
    }

    /// A page of the jobs that the ledger has and that pass a filter, by ascending id: jobs that were ordered or expected,
    /// and jobs with an authentic delivery that was [refused or could not be stored](crate::Reason::Refused). The articles
    /// of those that are [expected](crate::JobState::Expected) are not there. A collector polls the API for them.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, JobFilter, JobState};
    /// use article_webhook::{Sink, fixture::{self, Defect}};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     let post = fixture::complete().job_id("job_1").defect(Defect::TruncatedBody);
    ///     let refused = fixture::receiver().open(post.headers())?.read(post.bytes().clone()).unwrap_err();
    ///     inbox.refused(&refused);
    ///     while inbox.health().await.expected_held > 0 {
    ///         tokio::task::yield_now().await;
    ///     }
    ///
    ///     let expected = JobFilter { state: Some(JobState::Expected), ..JobFilter::default() };
    ///     let job = inbox.jobs(expected.clone()).await?.items.remove(0);
    ///     assert_eq!((job.job_id.as_str(), job.reason.to_string().as_str()), ("job_1", "refused: malformed_json"));
    ///
    ///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
    ///     assert!(inbox.jobs(expected).await?.items.is_empty(), "the article came");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn jobs(&self, filter: JobFilter) -> Result<Page<ExpectedJob>, Error> {
        self.0.store.jobs(filter).await
    }

    /// Looks for damage in everything that is stored, and for settings that may lose what is acknowledged. If nothing is
    /// found, the list is empty.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn check(&self) -> Result<Vec<Finding>, Error> {
        self.0.store.check().await
    }
}
