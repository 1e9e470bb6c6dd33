use std::time::{Duration, SystemTime};

use crate::ClockStep;

/// How long the clock of a store has to run after it was opened, before ages are trusted. It is longer than the 370 seconds
/// in which the service delivers again, so that what arrived before is old by any clock.
const STEADY: Duration = Duration::from_secs(600);

/// The same after the clock was set. NTP corrects a wrong clock in less.
const STEADY_AFTER_STEP: Duration = Duration::from_secs(3600);

/// What a store reports about itself, for a status page or an alarm.
///
/// ```
/// use article_webhook_inbox::{MemoryStore, store::{Store, StoreHealth}};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let health = MemoryStore::default().health().await?;
///     assert_eq!(health, StoreHealth::default());
///     assert_eq!((health.wal_bytes, health.blocked, health.clock_step), (0, None, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct StoreHealth {
    /// The size of the write-ahead log beside the database, in bytes. Up to 64 MiB are kept for reuse. A log that
    /// becomes larger is held by a program that reads for long, or by the search of a large
    /// file after a start.
    pub wal_bytes: u64,
    /// Why nothing can be committed now, and what to do. The store goes on by itself once the cause has ended. After a
    /// commit that failed, for instance because the disk is full, it says so until another succeeds.
    pub blocked: Option<String>,
    /// Damage that was found since the store was opened, and what was done about it. Each finding is a sentence. The
    /// first 32 are kept; a [check](crate::Inbox::check) finds all.
    pub findings: Vec<String>,
    /// Since when the store's clock has run without being set: since the store was opened, or since the last step. `None`
    /// if the store does not know.
    pub steady_since: Option<SystemTime>,
    /// How far the clock was set last, while the store was open or since it was open before. A store that was closed for
    /// more than a day cannot tell that from a clock that was set ahead. Retention begins an hour after a step.
    pub clock_step: Option<ClockStep>,
}

impl StoreHealth {
    /// Whether the ages of entries can be trusted, so that retention may remove what is old.
    pub(crate) fn has_steady_clock(&self, now: SystemTime) -> bool {
        let least = if self.clock_step.is_some() { STEADY_AFTER_STEP } else { STEADY };
        self.steady_since.is_none_or(|since| now >= since + least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_trusted_ten_minutes_after_opening_and_an_hour_after_a_step() {
        let start = SystemTime::UNIX_EPOCH;
        let opened = StoreHealth { steady_since: Some(start), ..StoreHealth::default() };
        let stepped = StoreHealth { clock_step: Some(ClockStep::Back(STEADY)), ..opened.clone() };
        let just_before = |time: Duration| start + time - Duration::from_millis(1);
        assert!(StoreHealth::default().has_steady_clock(start), "unknown");
        assert!(!opened.has_steady_clock(just_before(STEADY)));
        assert!(opened.has_steady_clock(start + STEADY));
        assert!(!stepped.has_steady_clock(just_before(STEADY_AFTER_STEP)));
        assert!(stepped.has_steady_clock(start + STEADY_AFTER_STEP));
    }
}
