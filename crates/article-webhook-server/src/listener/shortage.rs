use std::time::Duration;

use tokio::time::Instant;

/// Since when there has been no room for another connection, and when that was reported.
#[derive(Debug, Default)]
pub(super) struct Shortage {
    since: Option<Instant>,
    last: Option<Instant>,
    reported: Option<Instant>,
}

/// After this long with room, another shortage is a new one. During a flood a connection ends and another takes its
/// place many times a second.
const OVER: Duration = Duration::from_secs(1);

/// The pause between two reports. Strangers can cause a shortage, and must not fill a log.
const REPORT_PAUSE: Duration = Duration::from_secs(10);

impl Shortage {
    /// There is no room now. Returns how long the shortage has lasted if that is to be reported.
    pub(super) fn continues(&mut self, now: Instant) -> Option<Duration> {
        let is_new = self.last.is_none_or(|last| now - last > OVER);
        let since = if is_new { now } else { self.since.unwrap_or(now) };
        (self.since, self.last) = (Some(since), Some(now));
        if self.reported.is_some_and(|reported| now - reported < REPORT_PAUSE) {
            return None;
        }
        self.reported = Some(now);
        Some(now - since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_reported_at_once_and_every_ten_seconds_with_its_age() {
        let (mut shortage, start) = (Shortage::default(), Instant::now());
        let reports = (0..250_u64).filter_map(|tick| {
            let now = start + Duration::from_millis(tick * 100);
            shortage.continues(now).map(|age| (tick / 10, age.as_secs()))
        });
        assert_eq!(reports.collect::<Vec<_>>(), [(0, 0), (10, 10), (20, 20)]);
    }
}
