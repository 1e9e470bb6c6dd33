//! Times as stores keep them: whole milliseconds since 1970, in 64 bits.

use std::time::{Duration, SystemTime};

/// The last millisecond of the year 9999.
pub(crate) const END_OF_9999: i64 = 253_402_300_799_999;

/// Milliseconds since 1970, rounded down. A time before 1970 becomes 0.
#[must_use]
pub fn to_millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The time this many milliseconds after the start of 1970. A negative number becomes that start.
#[must_use]
pub fn from_millis(millis: i64) -> SystemTime {
    let at = |millis: i64| {
        let since = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
        SystemTime::UNIX_EPOCH.checked_add(since)
    };
    // The times of some systems end before 64 bits of milliseconds do.
    at(millis).or_else(|| at(END_OF_9999)).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A time rounded down to milliseconds.
pub(crate) fn rounded(time: SystemTime) -> SystemTime {
    from_millis(to_millis(time))
}

/// The time `by` after `now`, in whole milliseconds, at most the end of the year 9999, so that an export can hold it.
pub(crate) fn later(now: SystemTime, by: Duration) -> SystemTime {
    let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    from_millis(to_millis(now).saturating_add(by).min(END_OF_9999))
}
