use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Body, Completion, Digest, Entry, EntryKey, Filter, Prune, Pruned, Source, State,
    store::{Arrival, Claim, Claims, ExportLine, Lease, Outcome, Recorded, Settled, Store},
};
use bytes::Bytes;

use crate::{CLAIM_ONE, Durable, Subject, Transactional};

/// The claim of a case that is not about claims.
pub(crate) const CLAIM: Claim =
    Claim { limit: 100, lease: Duration::from_secs(60), attempts: 3, ..CLAIM_ONE };

/// The first body of an entry, in a case that is not about bodies.
pub(crate) const FIRST: &str = "{}";

/// Runs one case on a current-thread Tokio runtime.
pub(crate) fn run<S: ?Sized, Case: Future<Output = ()>>(
    subject: Box<S>,
    case: fn(Trial<S>) -> Case,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be built").block_on(case(Trial { subject }));
}

/// One run of a case: the subject, and the helpers that the cases share.
pub struct Trial<S: ?Sized> {
    subject: Box<S>,
}

impl<S: Subject + ?Sized> Trial<S> {
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.subject.store()
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.subject.now()
    }

    pub(crate) fn advance(&mut self, seconds: u64) {
        self.subject.advance(Duration::from_secs(seconds));
    }

    pub(crate) fn advance_by(&mut self, by: Duration) {
        self.subject.advance(by);
    }

    pub(crate) async fn record(&self, job: &str, body: &str) -> Recorded {
        self.store().record(arrival(job, body)).await.unwrap()
    }

    pub(crate) async fn record_as(&self, key: EntryKey, body: &str) -> Recorded {
        self.store().record(Arrival { key, ..arrival("any", body) }).await.unwrap()
    }

    pub(crate) async fn claim(&self) -> Claims {
        self.store().claim(CLAIM).await.unwrap()
    }

    /// Claims the one entry that is due.
    pub(crate) async fn lease(&self, job: &str) -> Lease {
        let claims = self.claim().await;
        let keys: Vec<_> = claims.claimed.iter().map(|claimed| claimed.key.clone()).collect();
        assert_eq!(keys, [key(job)], "the one entry that is due is claimed");
        claims.claimed[0].lease
    }

    /// Stores a body and leases its entry. The caller ensures that no other entry is due.
    pub(crate) async fn leased(&self, job: &str) -> Lease {
        assert_eq!(self.record(job, FIRST).await, Recorded::Stored);
        self.lease(job).await
    }

    pub(crate) async fn settle(&self, lease: Lease, outcome: Outcome) -> Settled {
        self.store().settle(lease, outcome).await.unwrap()
    }

    /// Claims the one entry that is due, and settles it.
    pub(crate) async fn work(&self, job: &str, outcome: Outcome) {
        let lease = self.lease(job).await;
        assert_eq!(self.settle(lease, outcome).await, Settled::Settled);
    }

    /// Stores a body, and settles its entry. The caller ensures that no other entry is due.
    pub(crate) async fn worked(&self, job: &str, outcome: Outcome) {
        assert_eq!(self.record(job, FIRST).await, Recorded::Stored);
        self.work(job, outcome).await;
    }

    /// Stores a body and brings its entry into that state. The caller ensures that no other entry is due.
    pub(crate) async fn put(&self, job: &str, state: State) {
        let outcome = match state {
            State::Waiting => {
                assert_eq!(self.record(job, FIRST).await, Recorded::Stored);
                return;
            }
            State::Leased => {
                self.leased(job).await;
                return;
            }
            State::Done => Outcome::Done,
            State::Dead => dead(),
            State::Unhandled => unhandled(1),
            State::Corrupt => corrupt(1),
            _ => panic!("only a key of a quarantine is in quarantine"),
        };
        self.worked(job, outcome).await;
    }

    /// Discards a waiting entry, so that a case can continue with another.
    pub(crate) async fn leave(&self, job: &str) {
        assert!(self.store().discard(vec![key(job)], "out of the way".into()).await.unwrap()[0]);
    }

    /// Requeues an entry from any state. Returns whether that was done.
    pub(crate) async fn requeue(&self, key: EntryKey) -> bool {
        self.store().requeue(vec![(key, None)], SystemTime::UNIX_EPOCH).await.unwrap()[0]
    }

    /// Removes everything that ended before now, and may be removed.
    pub(crate) async fn prune_old(&self) -> Pruned {
        let (before, limit) = (self.now(), 100);
        let prune =
            Prune { bodies_before: before, entries_before: before, limit, ..Prune::default() };
        self.store().prune(prune).await.unwrap()
    }

    /// Imports a line. Returns whether it was added.
    pub(crate) async fn import(&self, line: ExportLine) -> bool {
        let imported = self.store().import(vec![line]).await.unwrap();
        imported.added + imported.ledger_added == 1
    }

    pub(crate) async fn shown(&self, job: &str) -> (Entry, Vec<Body>) {
        self.store().show(key(job)).await.unwrap().expect("the entry is there")
    }

    pub(crate) async fn entry(&self, job: &str) -> Entry {
        self.shown(job).await.0
    }

    pub(crate) async fn bodies(&self, job: &str) -> Vec<Option<Bytes>> {
        self.shown(job).await.1.into_iter().map(|body| body.bytes).collect()
    }

    pub(crate) async fn all(&self) -> Vec<Entry> {
        self.store().list(Filter::default()).await.unwrap().items
    }
}

impl<S: Durable + ?Sized> Trial<S> {
    pub(crate) fn reopen(&mut self) {
        self.subject.reopen();
    }
}

impl<S: Transactional + ?Sized> Trial<S> {
    /// Runs the statement in a transaction of the application, and returns how many rows changed.
    pub(crate) fn complete(&mut self, completion: &Completion) -> u64 {
        self.subject.execute(completion)
    }
}

impl<S: ?Sized> fmt::Debug for Trial<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").finish_non_exhaustive()
    }
}

/// Every state of an article. `Waiting` is last, because in this state [`Trial::put`] leaves an entry that is due.
pub(crate) const STATES: [State; 6] =
    [State::Leased, State::Done, State::Dead, State::Unhandled, State::Corrupt, State::Waiting];

/// The value with this change.
pub(crate) fn changed<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

#[must_use]
pub fn job(id: &str) -> JobId {
    id.parse().unwrap()
}

/// The key of the article of this job.
#[must_use]
pub fn key(id: &str) -> EntryKey {
    EntryKey::article(job(id))
}

/// The key of another event of this job.
pub(crate) fn update(id: &str) -> EntryKey {
    EntryKey { event: "article.updated".into(), ..key(id) }
}

/// A delivery of this body by token.
#[must_use]
pub fn arrival(job: &str, body: &(impl AsRef<[u8]> + ?Sized)) -> Arrival {
    let body = body.as_ref();
    Arrival {
        key: key(job),
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest: Digest::of(body),
        bytes: Bytes::copy_from_slice(body),
    }
}

/// A body whose bytes differ from its digest.
pub(crate) fn damaged(job: &str, body: &str) -> Arrival {
    Arrival { bytes: Bytes::from_static(b"flipped"), ..arrival(job, body) }
}

pub(crate) fn retry(seconds: u64) -> Outcome {
    Outcome::Retry { after: Duration::from_secs(seconds), cause: "no network".into() }
}

pub(crate) fn dead() -> Outcome {
    Outcome::Dead { cause: "no such author".into() }
}

/// The bodies that were seen are no article.
pub(crate) fn unhandled(seen: usize) -> Outcome {
    Outcome::Unhandled { seen, cause: "no article".into() }
}

/// The bodies that were seen are damaged.
pub(crate) fn corrupt(seen: usize) -> Outcome {
    Outcome::Corrupt { seen, cause: "a flipped bit".into() }
}

pub(crate) fn bytes(body: &str) -> Option<Bytes> {
    Some(Bytes::copy_from_slice(body.as_bytes()))
}
