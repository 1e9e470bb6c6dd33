use article_webhook::JobId;

use super::Inbox;
use crate::{
    Body, Entry, EntryKey, Error,
    call::{Counts, Filter, Hint, Page, Prune, Pruned},
};

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

    /// A page of the entries that pass a filter, the oldest first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn list(&self, filter: Filter) -> Result<Page, Error> {
        self.0.store.list(filter).await
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
        let requeued = self.0.store.requeue(key).await?;
        if requeued {
            self.0.wake.wake();
        }
        Ok(requeued)
    }

    /// Makes a waiting, unhandled or corrupt entry dead. `false` if there is no such entry.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn bury(&self, key: EntryKey, cause: impl Into<String>) -> Result<bool, Error> {
        self.0.store.bury(key, cause.into()).await
    }

    /// Removes a batch of old bodies, entries and hints. A worker does this automatically.
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
    pub async fn forget(&self, job_id: JobId) -> Result<u64, Error> {
        self.0.store.forget(job_id).await
    }

    /// Jobs with an authentic delivery that was refused or could not be stored, oldest first. Fetch their articles
    /// from the API; some may have been stored by a later attempt.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn hints(&self, limit: u32) -> Result<Vec<Hint>, Error> {
        self.0.store.hints(limit).await
    }

    /// Looks for damage in everything that is stored. Each finding is a sentence. Without damage the list is empty.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn check(&self) -> Result<Vec<String>, Error> {
        self.0.store.check().await
    }
}
