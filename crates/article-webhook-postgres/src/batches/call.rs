use article_webhook_inbox::store::{
    Arrival, Lease, Outcome, Recorded, Settled,
    tables::script::{Record, Settle},
};

use crate::{
    connection::{Access, PoolKind, Work},
    tables::{Recording, Scripted},
};

/// How many calls share a transaction. Each locks its job, and the server has a limited number of locks.
pub(super) const MAX_BATCH_CALLS: usize = 128;

/// A call that shares its transaction with others.
pub(crate) trait Call: Send + Sync + Sized + 'static {
    type Answer: Send + 'static;
    /// The transaction of several calls. The answers are in the order of the calls.
    type Work: Work<Output = Vec<Self::Answer>>;

    const POOL: PoolKind;

    /// The transaction of a call that has one of its own, because it waited for a lock in a shared one.
    const ALONE: Access;

    fn work(calls: Vec<Self>) -> Self::Work;

    fn calls(work: Self::Work) -> Vec<Self>;

    /// The size of what it stores.
    fn bytes(&self) -> usize;
}

impl Call for Arrival {
    type Answer = Recorded;
    type Work = Recording;

    const POOL: PoolKind = PoolKind::Receiving;
    const ALONE: Access = Access::Delivery;

    fn work(calls: Vec<Self>) -> Recording {
        Recording(Scripted(Record(calls)))
    }

    fn calls(work: Recording) -> Vec<Self> {
        work.0.0.0
    }

    fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl Call for (Lease, Outcome) {
    type Answer = Settled;
    type Work = Scripted<Settle>;

    const POOL: PoolKind = PoolKind::Working;
    const ALONE: Access = Access::Write;

    fn work(calls: Vec<Self>) -> Scripted<Settle> {
        Scripted(Settle(calls))
    }

    fn calls(work: Scripted<Settle>) -> Vec<Self> {
        work.0.0
    }

    fn bytes(&self) -> usize {
        0
    }
}
