use std::time::{Duration, Instant};

use crate::Error;

/// How often what is old is looked for.
const EVERY: Duration = Duration::from_secs(3600);

/// The pause between two batches, which leaves the store to the deliveries.
const BETWEEN_BATCHES: Duration = Duration::from_millis(100);

/// The service's last attempt comes 370 seconds after the first; whoever forgets sooner stores twice.
const SHORTEST: Duration = Duration::from_secs(3600);

/// How long what is done is kept. A worker removes what is older, once an hour, a batch at a time. Dead and corrupt
/// entries are kept until somebody requeues, buries or forgets them.
///
/// ```
/// use std::time::Duration;
/// use article_inbox::Retention;
///
/// let day = Duration::from_secs(24 * 3600);
/// assert_eq!(Retention::default(), Retention::new(7 * day, 30 * day)?);
///
/// let error = Retention::new(day, Duration::from_secs(300)).unwrap_err();
/// assert_eq!(error.to_string(), "retention: expected at least an hour, as the service may deliver again, found 300s");
/// # Ok::<(), article_inbox::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub(crate) bodies: Duration,
    pub(crate) entries: Duration,
}

impl Retention {
    /// Keeps the bodies of done entries for so long, and what is left of them, by which a repeated delivery
    /// is known, for so long; as well as entries that cannot be handled.
    ///
    /// # Errors
    ///
    /// Less than an hour: the service delivers again within 370 seconds.
    ///
    /// ```
    /// use std::time::Duration;
    /// use article_inbox::Retention;
    ///
    /// let hour = Duration::from_secs(3600);
    /// assert!(Retention::new(hour, 24 * hour).is_ok());
    /// assert!(Retention::new(hour / 2, 24 * hour).is_err());
    /// ```
    pub fn new(bodies: Duration, entries: Duration) -> Result<Self, Error> {
        let least = bodies.min(entries);
        if least < SHORTEST {
            return Err(Error::invalid(format!(
                "retention: expected at least an hour, as the service may deliver again, found {least:?}"
            )));
        }
        Ok(Self { bodies, entries })
    }
}

impl Default for Retention {
    /// Bodies for 7 days, entries for 30.
    fn default() -> Self {
        let day = Duration::from_secs(24 * 3600);
        Self { bodies: 7 * day, entries: 30 * day }
    }
}

/// When the next batch is to go.
#[derive(Debug)]
pub(crate) struct Sweep {
    next: Instant,
}

impl Sweep {
    pub(crate) fn new(now: Instant) -> Self {
        Self { next: now }
    }

    pub(crate) fn due(&self) -> Instant {
        self.next
    }

    /// A batch went, and there may be more.
    pub(crate) fn swept(&mut self, now: Instant, more: bool) {
        self.next = now + if more { BETWEEN_BATCHES } else { EVERY };
    }

    /// The store failed: there is no hurry.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.next = now + EVERY / 60;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_follow_each_other_until_nothing_is_left_and_then_an_hour_passes() {
        let now = Instant::now();
        let mut sweep = Sweep::new(now);
        assert_eq!(sweep.due(), now);
        sweep.swept(now, true);
        assert_eq!(sweep.due(), now + Duration::from_millis(100));
        sweep.swept(now, false);
        assert_eq!(sweep.due(), now + Duration::from_secs(3600));
        sweep.failed(now);
        assert_eq!(sweep.due(), now + Duration::from_secs(60));
    }

    #[test]
    fn nothing_is_forgotten_within_the_hour() {
        let hour = Duration::from_secs(3600);
        assert!(Retention::new(hour, hour).is_ok());
        let short = hour - Duration::from_nanos(1);
        assert!(Retention::new(short, hour).is_err());
        assert!(Retention::new(hour, short).is_err());
    }
}
