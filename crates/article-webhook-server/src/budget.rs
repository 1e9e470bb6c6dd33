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

/// What one exchange has taken of the budget. Its end gives it back.
#[derive(Debug)]
pub(crate) struct Tab {
    budget: Arc<Budget>,
    taken: AtomicUsize,
}

impl Tab {
    pub(crate) fn new(budget: Arc<Budget>) -> Arc<Self> {
        Arc::new(Self { budget, taken: 0.into() })
    }

    /// Takes `bytes` more; `false`, and nothing is taken, if there are not so many left.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let left = self.budget.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes));
        if left.is_ok() {
            self.taken.fetch_add(bytes, Relaxed);
        }
        left.is_ok()
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.budget.left.fetch_add(*self.taken.get_mut(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_exchanges_share_one_budget_and_give_back_what_they_took() {
        let budget = Budget::new(100);
        let (one, two) = (Tab::new(budget.clone()), Tab::new(budget.clone()));
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
        assert!(tab.take(100));
        drop(tab);
        assert!(!other.take(1));
        drop(shared);
        assert!(other.take(1));
    }
}
