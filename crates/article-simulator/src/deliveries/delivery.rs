use std::{sync::Arc, time::Duration};

use crate::{Fault, service::brand::Target};

/// Section 6.2: up to three retries, 10, 60 and 300 seconds after the failure before.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];

/// An attempt that is due at some time.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) job: usize,
    pub(crate) target: Arc<Target>,
    /// Which of the job's targets it is.
    pub(crate) target_number: u16,
    pub(crate) attempt: u8,
    pub(crate) is_duplicate: bool,
    pub(crate) faults: Vec<Fault>,
}

/// How long after the failure of an attempt, from 1, the next one comes.
pub(crate) fn pause_after(attempt: u8) -> Option<Duration> {
    PAUSES.get(usize::from(attempt).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_retries_and_no_more() {
        let pauses: Vec<_> =
            (1..=255).map_while(pause_after).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses, [10, 60, 300]);
        assert_eq!((pause_after(0), pause_after(4)), (None, None));
    }
}
