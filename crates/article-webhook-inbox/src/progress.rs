use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How far a long call is, for another task to show.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    whole: AtomicU64,
}

impl Progress {
    /// What is done of the whole. A whole of 0 is not known.
    pub(crate) fn set(&self, done: u64, whole: u64) {
        self.done.store(done, Relaxed);
        self.whole.store(whole, Relaxed);
    }

    /// What is done, and the whole. `None` while that is not known.
    #[must_use]
    pub fn get(&self) -> Option<(u64, u64)> {
        let whole = self.whole.load(Relaxed);
        (whole > 0).then(|| (self.done.load(Relaxed), whole))
    }
}
