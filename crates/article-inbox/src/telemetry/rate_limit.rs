use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Lets one event per second through, and counts the others.
pub(super) struct RateLimit {
    last: AtomicU64,
    unlogged: AtomicU64,
}

impl RateLimit {
    pub(super) const fn new() -> Self {
        Self { last: AtomicU64::new(0), unlogged: AtomicU64::new(0) }
    }

    /// Logs now, unless an event was logged in this second. `log` is given how many events were not logged since the last.
    pub(super) fn log(&self, log: impl FnOnce(Option<u64>)) {
        let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        self.log_at(second, log);
    }

    fn log_at(&self, second: u64, log: impl FnOnce(Option<u64>)) {
        if self.last.swap(second, Ordering::Relaxed) == second {
            self.unlogged.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let unlogged = self.unlogged.swap(0, Ordering::Relaxed);
        log((unlogged > 0).then_some(unlogged));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_within_a_second_are_counted_and_not_logged() {
        let (limit, mut logged) = (RateLimit::new(), Vec::new());
        for second in [1, 1, 1, 2, 3, 3, 1] {
            limit.log_at(second, |unlogged| logged.push((second, unlogged)));
        }
        assert_eq!(logged, [(1, None), (2, Some(2)), (3, None), (1, Some(1))]);
    }
}
