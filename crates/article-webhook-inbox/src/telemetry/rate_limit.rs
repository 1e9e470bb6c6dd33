use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Lets one event per second or minute through, and counts the others.
pub(super) struct RateLimit {
    seconds: u64,
    /// The second in which an event was logged last.
    last: AtomicU64,
    not_logged: AtomicU64,
}

impl RateLimit {
    pub(super) const fn per_second() -> Self {
        Self { seconds: 1, last: AtomicU64::new(0), not_logged: AtomicU64::new(0) }
    }

    pub(super) const fn per_minute() -> Self {
        Self { seconds: 60, ..Self::per_second() }
    }

    /// Logs now, unless an event was logged in this second or minute. `log` is given how many events were not logged since the last.
    pub(super) fn log(&self, log: impl FnOnce(Option<u64>)) {
        let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        self.log_at(second, log);
    }

    fn log_at(&self, second: u64, log: impl FnOnce(Option<u64>)) {
        let last = self.last.load(Ordering::Relaxed);
        // After a clock was set back, the last event lies in the future.
        let is_early = (last..last.saturating_add(self.seconds)).contains(&second);
        let is_first = || {
            let swapped =
                self.last.compare_exchange(last, second, Ordering::Relaxed, Ordering::Relaxed);
            swapped.is_ok()
        };
        if is_early || !is_first() {
            self.not_logged.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let not_logged = self.not_logged.swap(0, Ordering::Relaxed);
        log((not_logged > 0).then_some(not_logged));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_within_a_second_are_counted_and_not_logged() {
        let (limit, mut logged) = (RateLimit::per_second(), Vec::new());
        for second in [1, 1, 1, 2, 3, 3, 1] {
            limit.log_at(second, |not_logged| logged.push((second, not_logged)));
        }
        assert_eq!(logged, [(1, None), (2, Some(2)), (3, None), (1, Some(1))]);
    }

    #[test]
    fn events_that_last_are_logged_once_a_minute() {
        let (limit, mut logged) = (RateLimit::per_minute(), Vec::new());
        for second in 60..200 {
            limit.log_at(second, |not_logged| logged.push((second, not_logged)));
        }
        assert_eq!(logged, [(60, None), (120, Some(59)), (180, Some(59))]);
    }

    #[test]
    fn a_clock_that_is_set_back_silences_nothing() {
        let (limit, mut logged) = (RateLimit::per_minute(), Vec::new());
        for second in [100, 159, 160, 161, 30] {
            limit.log_at(second, |not_logged| logged.push((second, not_logged)));
        }
        assert_eq!(logged, [(100, None), (160, Some(1)), (30, Some(1))]);
    }
}
