use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// By how much two clocks may differ that were not set.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_millis(500);

/// When a call began. Its answer says nothing about the time before, and may come after the answers to later calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallStart {
    /// By a clock that is never set back. It stands still while the machine is suspended.
    pub(crate) instant: Instant,
    /// By the clock of the store.
    pub(crate) store_time: SystemTime,
}

impl CallStart {
    /// Whether the clock of the store was set back since an earlier call.
    pub(crate) fn is_set_back_since(self, earlier: Self) -> bool {
        let passed = self.instant.saturating_duration_since(earlier.instant);
        self.store_time + MAX_CLOCK_DIFFERENCE.max(passed / 1000) <= earlier.store_time + passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_falls_behind_was_set_back() {
        let start = CallStart { instant: Instant::now(), store_time: SystemTime::UNIX_EPOCH };
        for (passed, by_store, expected) in [
            (0, 0_i64, false),
            (5000, 4501, false),
            (5000, 4500, true),
            (5000, -5000, true),
            (0, -500, true),
            (3_600_000, 3_597_000, false),
            (3_600_000, 3_596_000, true),
            // It was set forward, or the machine was suspended.
            (0, 5000, false),
        ] {
            let store_time = match u64::try_from(by_store) {
                Ok(millis) => start.store_time + Duration::from_millis(millis),
                Err(_) => start.store_time - Duration::from_millis(by_store.unsigned_abs()),
            };
            let later =
                CallStart { instant: start.instant + Duration::from_millis(passed), store_time };
            assert_eq!(later.is_set_back_since(start), expected, "{passed} {by_store}");
        }
    }
}
