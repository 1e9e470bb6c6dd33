use std::sync::Arc;

use crate::connection::{Database, Lane, Transaction, Work};

/// The result of a claim on its way to its caller. If that is gone, nothing runs what was leased, so it is given back.
pub(super) struct ClaimGuard<T, L: Send + Sync + 'static> {
    claimed: T,
    leases: Vec<L>,
    release: Release<L>,
    database: Arc<Database>,
}

/// A transaction that gives leases back.
type Release<L> = for<'t> fn(&'t Transaction<'t>, &'t [L]) -> Work<'t, ()>;

impl<T: Default, L: Send + Sync + 'static> ClaimGuard<T, L> {
    pub(super) fn new(
        claimed: T,
        leases: Vec<L>,
        release: Release<L>,
        database: Arc<Database>,
    ) -> Self {
        Self { claimed, leases, release, database }
    }

    pub(super) fn deliver(mut self) -> T {
        self.leases.clear();
        std::mem::take(&mut self.claimed)
    }
}

impl<T, L: Send + Sync + 'static> Drop for ClaimGuard<T, L> {
    fn drop(&mut self) {
        let (leases, release) = (std::mem::take(&mut self.leases), self.release);
        if leases.is_empty() {
            return;
        }
        let database = Arc::clone(&self.database);
        self.database.connections.runtime.spawn(async move {
            // If this fails, the leases end by themselves.
            let _ = database.transact(Lane::Working, leases, release).await;
        });
    }
}
