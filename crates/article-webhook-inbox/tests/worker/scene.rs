//! What the tests share: an inbox on a store with faults, and a stepped clock.

use std::{
    future::{Future, pending},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use article_webhook::{
    Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{
    Body, Clock, Digest, Entry, EntryKey, Inbox, Source, State, Worker,
    store::{Arrival, Recorded, Store},
};
pub(crate) use article_webhook_inbox_contract::key;
use article_webhook_inbox_contract::{arrival, faulty::Faulty};
use tokio::sync::Notify;

/// A poll interval that no test reaches, so that only a wake-up can be the reason for a claim.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
pub(crate) const START: SystemTime = SystemTime::UNIX_EPOCH;

pub(crate) struct Scene {
    pub(crate) inbox: Inbox,
    pub(crate) store: Faulty,
    pub(crate) clock: Clock,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::at(Clock::stepped(START + HOUR * 24 * 365))
    }

    /// A scene in real time, in which leases end by themselves.
    pub(crate) fn real() -> Self {
        Self::at(Clock::system())
    }

    fn at(clock: Clock) -> Self {
        let store = Faulty::new(clock.clone());
        Self { inbox: Inbox::new(store.clone()), store, clock }
    }

    pub(crate) async fn deliver(&self, job: &str) {
        assert_eq!(self.accept(&fixture::complete().job_id(job)).await, Reply::Stored);
    }

    pub(crate) async fn accept(&self, post: &DeliveryRequest) -> Reply {
        self.inbox.accept(post.delivery().unwrap()).await
    }

    /// A worker that counts its runs.
    pub(crate) fn worker_counting(&self, runs: &Count) -> Worker {
        let runs = runs.clone();
        self.inbox.worker(move |_| {
            runs.add();
            async { Ok(()) }
        })
    }

    /// A worker whose handlers never end. Each that is dropped is counted.
    pub(crate) fn worker_without_end(&self, ended: &Count) -> Worker {
        let ended = ended.clone();
        self.inbox.worker(move |_| {
            let held = Dropped(ended.clone());
            async move {
                let _held = held;
                pending().await
            }
        })
    }

    /// A worker each of whose handlers ends by a notification.
    pub(crate) fn worker_until(&self, finish: &Arc<Notify>) -> Worker {
        let finish = Arc::clone(finish);
        self.inbox.worker(move |_| {
            let finish = Arc::clone(&finish);
            async move {
                finish.notified().await;
                Ok(())
            }
        })
    }

    /// Stores a body as another process would, without waking the workers of this one.
    pub(crate) async fn record(&self, key: EntryKey, bytes: &[u8]) -> Recorded {
        self.record_as(key, bytes, Digest::of(bytes)).await
    }

    pub(crate) async fn record_as(&self, key: EntryKey, bytes: &[u8], digest: Digest) -> Recorded {
        let arrival = arrival("any", bytes);
        self.store.record(Arrival { key, source: Source::Api, digest, ..arrival }).await.unwrap()
    }

    pub(crate) async fn show(&self, job: &str) -> (Entry, Vec<Body>) {
        self.inbox.show(key(job)).await.unwrap().expect("it was stored")
    }

    pub(crate) async fn until(&self, state: State, count: u64) {
        while self.inbox.counts().await.unwrap().of(state) < count {
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) async fn until_true(mut fact: impl FnMut() -> bool) {
    while !fact() {
        tokio::task::yield_now().await;
    }
}

/// Fails a test that hangs.
pub(crate) async fn bounded<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("it came to an end")
}

/// A counter. Its clones share the count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count(Arc<AtomicU32>);

impl Count {
    pub(crate) fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn take(&self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Counts when it is dropped: a handler that owns it has ended then. As what a handler owns may do, it needs the runtime for that.
pub(crate) struct Dropped(pub(crate) Count);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _runtime = tokio::runtime::Handle::current();
        self.0.add();
    }
}
