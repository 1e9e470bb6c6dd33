use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// How many bytes of bodies services may hold, for all connections together.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: bytes.into() })
    }
}

/// This many bytes of each body are free. A receiver drains this much of a body without a token, and such bodies
/// must not use up the budget of deliveries.
const FREE: usize = 64 << 10;

/// The bytes of the budget that one exchange has reserved. Dropping it releases them.
#[derive(Debug)]
pub(crate) struct BudgetReservation {
    budget: Arc<Budget>,
    /// The bytes of its body so far.
    bytes: AtomicUsize,
}

impl BudgetReservation {
    pub(crate) fn new(budget: Arc<Budget>) -> Arc<Self> {
        Arc::new(Self { budget, bytes: 0.into() })
    }

    /// Takes `bytes` more. Returns `false`, and takes nothing, if too few are left.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        // One reader reads a body, so no other thread adds to `bytes` meanwhile.
        let before = self.bytes.load(Relaxed);
        let price = charged(before + bytes) - charged(before);
        let left = self.budget.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(price));
        if left.is_ok() {
            self.bytes.store(before + bytes, Relaxed);
        }
        left.is_ok()
    }
}

impl Drop for BudgetReservation {
    fn drop(&mut self) {
        self.budget.left.fetch_add(charged(*self.bytes.get_mut()), Relaxed);
    }
}

fn charged(bytes: usize) -> usize {
    bytes.saturating_sub(FREE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_exchanges_share_one_budget_and_give_back_what_they_took() {
        let budget = Budget::new(100);
        let reservation = || BudgetReservation::new(budget.clone());
        let (one, two) = (reservation(), reservation());
        assert!(one.take(FREE) && two.take(FREE));
        assert!(one.take(60));
        assert!(!two.take(41));
        assert!(two.take(40));
        drop(one);
        assert!(two.take(60));
        drop(two);
        assert_eq!(budget.left.load(Relaxed), 100);
    }

    #[test]
    fn a_reservation_lasts_until_its_last_clone_is_dropped() {
        let budget = Budget::new(100);
        let one = BudgetReservation::new(budget.clone());
        let other = BudgetReservation::new(budget);
        let clone = one.clone();
        assert!(one.take(FREE + 100));
        drop(one);
        assert!(!other.take(FREE + 1));
        drop(clone);
        assert!(other.take(FREE + 1));
    }

    #[test]
    fn the_beginning_of_a_body_is_free() {
        let budget = Budget::new(10);
        let all: Vec<_> = (0..100).map(|_| BudgetReservation::new(budget.clone())).collect();
        assert!(all.iter().all(|one| one.take(FREE - 1) && one.take(1)));
        assert_eq!(budget.left.load(Relaxed), 10);
        assert!(!all[0].take(11) && all[0].take(10) && !all[1].take(1));
    }
}
