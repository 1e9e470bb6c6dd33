use std::sync::Arc;

use tokio::{runtime::Handle, sync::watch};

use super::{
    leased_entry::{LeasedEntry, enter},
    signal::Signal,
};
use crate::{
    call::{Claimed, Outcome},
    store::Ledger,
    telemetry,
};

/// A claimed entry whose handler has not begun. If it is dropped, the entry is given back, and the attempt does not
/// count. So dropping the future of a worker, or its runtime, costs no entry an attempt that never was.
pub(crate) struct ClaimGuard {
    /// `None` once nothing is to be given back.
    entry: Option<LeasedEntry>,
    store: Arc<dyn Ledger>,
    runtime: Handle,
}

impl ClaimGuard {
    /// Must be called in a runtime.
    pub(crate) fn new(claimed: &Claimed, store: &Arc<dyn Ledger>) -> Self {
        let (store, runtime) = (Arc::clone(store), Handle::current());
        Self { entry: Some(LeasedEntry::of(claimed)), store, runtime }
    }

    /// The handler begins, or the store knows another outcome. Nothing is given back any more.
    pub(crate) fn keep(mut self) {
        self.entry = None;
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        let Some(entry) = self.entry.take() else { return };
        let _entered = enter(&self.runtime);
        // Nothing is left that could signal.
        let (_, signal) = watch::channel(Signal::Stop);
        let given_back = entry.settle(&self.store, Outcome::Released, signal);
        drop(self.runtime.spawn(async move {
            if let Err(error) = given_back.await {
                telemetry::store_failed("settle", &error);
            }
        }));
    }
}
