use std::time::{Duration, Instant};

use crate::worker::retention::Removed;

/// The pause between two searches for old data.
const EVERY: Duration = Duration::from_secs(3600);

/// The pause between two batches, in which the store serves deliveries.
const BETWEEN_BATCHES: Duration = Duration::from_millis(100);

/// When retention removes the next batch.
#[derive(Debug)]
pub(crate) struct PruneTimer {
    due: Instant,
}

impl PruneTimer {
    pub(crate) fn new(now: Instant) -> Self {
        Self { due: now }
    }

    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// A batch was removed.
    pub(crate) fn pruned(&mut self, now: Instant, removed: &Removed) {
        self.due = now + if removed.has_more() { BETWEEN_BATCHES } else { EVERY };
    }

    /// The store failed, or its clock cannot be trusted yet. Retention is not urgent.
    pub(crate) fn postponed(&mut self, now: Instant) {
        self.due = now + EVERY / 60;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{LedgerPruned, Pruned};

    #[test]
    fn batches_follow_each_other_until_nothing_is_left_and_then_an_hour_passes() {
        let now = Instant::now();
        let mut timer = PruneTimer::new(now);
        assert_eq!(timer.due(), now);
        let entries = Pruned { more: true, ..Pruned::default() };
        let ledger = LedgerPruned { more: true, ..LedgerPruned::default() };
        for removed in
            [Removed { entries, ..Removed::default() }, Removed { ledger, ..Removed::default() }]
        {
            timer.pruned(now, &removed);
            assert_eq!(timer.due(), now + Duration::from_millis(100));
        }
        timer.pruned(now, &Removed::default());
        assert_eq!(timer.due(), now + Duration::from_secs(3600));
        timer.postponed(now);
        assert_eq!(timer.due(), now + Duration::from_secs(60));
    }
}
