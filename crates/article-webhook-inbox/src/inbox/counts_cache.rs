use std::time::{Duration, Instant};

use crate::call::LedgerCounts;

/// Figures that take longer to count are kept.
const MAX_UNCACHED_TIME: Duration = Duration::from_millis(20);

/// How long figures are kept, as a multiple of the time of the count. So counting takes a fiftieth of the time at most.
const CACHE_TIME_FACTOR: u32 = 50;

/// The figures of a large ledger, for a while after they were counted. Those of a small one are counted each time.
#[derive(Debug, Default)]
pub(crate) struct CountsCache {
    last: Option<(Instant, LedgerCounts)>,
}

impl CountsCache {
    /// The last figures, if they are still used.
    pub(crate) fn known(&self, now: Instant) -> Option<LedgerCounts> {
        let (until, counts) = self.last?;
        (now < until).then_some(counts)
    }

    /// The figures were counted.
    pub(crate) fn counted(&mut self, began: Instant, now: Instant, counts: LedgerCounts) {
        let took = now.duration_since(began);
        self.last = (took > MAX_UNCACHED_TIME).then(|| (now + took * CACHE_TIME_FACTOR, counts));
    }
}
