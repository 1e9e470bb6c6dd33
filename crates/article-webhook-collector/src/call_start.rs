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
