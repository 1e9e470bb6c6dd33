use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::answer::Rejection;

/// How many bytes of unfinished bodies a receiver and its clones hold together.
pub(super) struct BodyBudget {
    left: AtomicUsize,
}

impl BodyBudget {
    pub(super) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: bytes.into() })
    }
}

/// The part of the budget that one body has used. Dropping it gives the part back.
pub(super) struct BudgetReservation {
    budget: Arc<BodyBudget>,
    bytes: usize,
}

impl BudgetReservation {
    /// Takes nothing yet: bytes count when they arrive, because any length can be declared.
    pub(super) fn new(budget: &Arc<BodyBudget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Takes `bytes` more. If fewer are left, it takes nothing, and the delivery is refused.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Rejection> {
        let left = self.budget.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes));
        left.map_err(|_| Rejection::Overloaded)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for BudgetReservation {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.bytes, Relaxed);
    }
}
