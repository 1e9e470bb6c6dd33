use std::{sync::Arc, time::Duration};

use crate::{Fault, Target};

/// Service document, section 6.2: up to three retries, 10, 60 and 300 seconds after the previous failure.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];

/// An attempt that is scheduled.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) job: usize,
    pub(crate) target: Arc<Target>,
    /// The number of the target among those of the job.
    pub(crate) target_number: u16,
    pub(crate) attempt: u8,
    pub(crate) is_duplicate: bool,
    pub(crate) faults: Vec<Fault>,
}

/// The pause after the failure of an attempt, counted from 1, before the next one. `None`: there is no next one (service
/// document, section 6.2).
///
/// ```
/// use std::time::Duration;
/// use article_webhook_simulator::pause_after;
///
/// let pauses: Vec<_> = (1..).map_while(pause_after).collect();
/// assert_eq!(pauses, [10, 60, 300].map(Duration::from_secs));
/// assert_eq!(pause_after(4), None);
/// ```
#[must_use]
pub fn pause_after(attempt: u8) -> Option<Duration> {
    PAUSES.get(usize::from(attempt).checked_sub(1)?).copied()
}
