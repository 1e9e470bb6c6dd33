use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// How many bytes of bodies may be in the hands of services, for all connections together.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: bytes.into() })
    }
}

/// So much of each body costs nothing. A receiver drains that much of a stranger's before it refuses, and
/// strangers must not use up what is there for deliveries.
const FREE: usize = 64 << 10;

/// What one exchange has taken of the budget. Its end gives it back.
#[derive(Debug)]
pub(crate) struct Tab {
    budget: Arc<Budget>,
    /// The bytes of its body so far.
    bytes: AtomicUsize,
}

impl Tab {
    pub(crate) fn new(budget: Arc<Budget>) -> Arc<Self> {
        Arc::new(Self { budget, bytes: 0.into() })
    }

    /// Takes `bytes` more; `false`, and nothing is taken, if there are not so many left.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        // A body is read by one reader, so that nobody adds to it in between.
        let before = self.bytes.load(Relaxed);
        let price = charged(before + bytes) - charged(before);
        let left = self.budget.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(price));
        if left.is_ok() {
            self.bytes.store(before + bytes, Relaxed);
        }
        left.is_ok()
    }
}

impl Drop for Tab {
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
        let (one, two) = (Tab::new(budget.clone()), Tab::new(budget.clone()));
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
    fn a_tab_is_open_as_long_as_anyone_holds_it() {
        let budget = Budget::new(100);
        let (tab, other) = (Tab::new(budget.clone()), Tab::new(budget));
        let shared = tab.clone();
        assert!(tab.take(FREE + 100));
        drop(tab);
        assert!(!other.take(FREE + 1));
        drop(shared);
        assert!(other.take(FREE + 1));
    }

    #[test]
    fn the_beginning_of_a_body_costs_nothing() {
        let budget = Budget::new(10);
        let tabs: Vec<_> = (0..100).map(|_| Tab::new(budget.clone())).collect();
        assert!(tabs.iter().all(|tab| tab.take(FREE - 1) && tab.take(1)));
        assert_eq!(budget.left.load(Relaxed), 10);
        assert!(!tabs[0].take(11) && tabs[0].take(10) && !tabs[1].take(1));
    }
}
