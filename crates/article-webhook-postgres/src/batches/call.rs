use article_webhook_inbox::store::{Arrival, Lease, Outcome, Recorded, Settled};

use crate::{
    connection::{Lane, Transaction, Work},
    statements,
};

/// How many calls share a transaction.
pub(super) const BATCH: usize = 256;

/// How many deliveries share a transaction of which the inbox or the ledger knows something. Each may take several round trips,
/// and they have a limit together.
const KNOWN: usize = 64;

/// A call that shares its transaction with others.
pub(crate) trait Call: Send + Sync + Sized + 'static {
    type Answer: Send + 'static;

    const LANE: Lane;
    /// The transactions that calls share, in their order, and how many calls each takes at most. Each answers some of them, and
    /// what it answers is committed. The others are left to the next one.
    const TOGETHER: &'static [(Together<Self>, usize)];
    /// A transaction of one of those that are left.
    const ALONE: for<'t> fn(&'t Transaction<'t>, &'t Self) -> Work<'t, Self::Answer>;

    /// The size of what it stores.
    fn bytes(&self) -> usize;
}

/// A transaction of several calls. The answers are in the order of the calls.
type Together<C> =
    for<'t> fn(&'t Transaction<'t>, &'t [C]) -> Work<'t, Vec<Option<<C as Call>::Answer>>>;

impl Call for Arrival {
    type Answer = Recorded;

    const LANE: Lane = Lane::Receiving;
    const TOGETHER: &'static [(Together<Self>, usize)] =
        &[(statements::record_new, BATCH), (statements::record, KNOWN)];
    const ALONE: for<'t> fn(&'t Transaction<'t>, &'t Self) -> Work<'t, Recorded> =
        statements::record_one;

    fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl Call for (Lease, Outcome) {
    type Answer = Settled;

    const LANE: Lane = Lane::Working;
    const TOGETHER: &'static [(Together<Self>, usize)] =
        &[(statements::complete, BATCH), (statements::settle_all, BATCH)];
    const ALONE: for<'t> fn(&'t Transaction<'t>, &'t Self) -> Work<'t, Settled> =
        statements::settle;

    fn bytes(&self) -> usize {
        0
    }
}
