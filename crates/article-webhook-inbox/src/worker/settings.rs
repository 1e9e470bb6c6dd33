use std::{fmt::Debug, ops::RangeInclusive, time::Duration};

use super::retention::Retention;
use crate::Error;

/// The longest time that a setting can name. It can be added to any time without an overflow.
const MAX_DURATION: Duration = Duration::from_secs(365 * 24 * 3600);

/// The longest pause between two attempts, so that no entry is delayed indefinitely.
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// The settings of a worker.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) concurrency: u32,
    pub(super) attempts: u32,
    pub(super) backoff: Backoff,
    pub(super) lease: Duration,
    pub(super) handler_timeout: Duration,
    pub(super) grace: Duration,
    pub(super) poll: Duration,
    pub(super) retention: Retention,
    pub(super) stuck_handlers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 4,
            attempts: 8,
            backoff: Backoff::default(),
            lease: Duration::from_secs(60),
            handler_timeout: Duration::from_secs(300),
            grace: Duration::from_secs(25),
            poll: Duration::from_secs(5),
            retention: Retention::default(),
            stuck_handlers: 64,
        }
    }
}

impl Settings {
    /// Refuses settings that are out of range. The error names the first of them.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Backoff { first, longest } = self.backoff;
        in_range("concurrency", self.concurrency, 1..=u32::MAX)?;
        in_range("attempts", self.attempts, 1..=u32::MAX)?;
        in_range("backoff, longest pause", longest, Duration::ZERO..=MAX_PAUSE)?;
        in_range("backoff, first pause", first, Duration::ZERO..=longest)?;
        in_range("lease", self.lease, Duration::from_millis(100)..=MAX_DURATION)?;
        in_range("handler_timeout", self.handler_timeout, Duration::ZERO..=MAX_DURATION)?;
        in_range("grace", self.grace, Duration::ZERO..=MAX_DURATION)?;
        in_range("poll", self.poll, Duration::from_millis(10)..=MAX_DURATION)?;
        in_range("stuck_handlers", self.stuck_handlers, 1..=usize::MAX)
    }
}

/// How long an entry waits between two attempts. Each pause is three times the last one, up to a limit. A
/// random part is subtracted, so that entries that failed together are not retried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) first: Duration,
    pub(super) longest: Duration,
}

impl Backoff {
    /// The pause after this attempt, counted from 1. `random`, from 0.0 to 1.0, subtracts up to a fifth of it.
    pub(super) fn pause(self, attempt: u32, random: f64) -> Duration {
        // 3^20 exceeds a u32, so the factor saturates; the pause is limited in any case.
        let factor = 3_u32.saturating_pow(attempt.saturating_sub(1).min(20));
        let pause = self.first.saturating_mul(factor).min(self.longest);
        pause.mul_f64(1.0 - 0.2 * random.clamp(0.0, 1.0))
    }
}

impl Default for Backoff {
    /// 10 s, 30 s, 90 s … up to an hour. Eight attempts take about two hours.
    fn default() -> Self {
        Self { first: Duration::from_secs(10), longest: Duration::from_secs(3600) }
    }
}

fn in_range<T: Debug + PartialOrd + Copy>(
    name: &str,
    found: T,
    range: RangeInclusive<T>,
) -> Result<(), Error> {
    if range.contains(&found) {
        return Ok(());
    }
    let (bound, limit) =
        if found < *range.start() { ("least", range.start()) } else { ("most", range.end()) };
    Err(Error::invalid(format!("worker: {name}: expected at {bound} {limit:?}, found {found:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = Settings::default();
        change(&mut settings);
        settings
    }

    fn pauses(first: Duration, longest: Duration) -> Settings {
        with(|it| it.backoff = Backoff { first, longest })
    }

    #[test]
    fn a_setting_out_of_range_is_refused_by_name() {
        let (day, endless, none) = (MAX_PAUSE, Duration::MAX, Duration::ZERO);
        let too_long = "expected at most 31536000s, found";
        for (settings, message) in [
            (with(|it| it.concurrency = 0), "concurrency: expected at least 1, found 0"),
            (with(|it| it.attempts = 0), "attempts: expected at least 1, found 0"),
            (
                pauses(day, day * 2),
                "backoff, longest pause: expected at most 86400s, found 172800s",
            ),
            (pauses(day, day / 2), "backoff, first pause: expected at most 43200s, found 86400s"),
            (with(|it| it.lease = none), "lease: expected at least 100ms, found 0ns"),
            (with(|it| it.lease = MAX_DURATION * 2), &format!("lease: {too_long} 63072000s")),
            (
                with(|it| it.handler_timeout = endless),
                &format!("handler_timeout: {too_long} {endless:?}"),
            ),
            (with(|it| it.grace = endless), &format!("grace: {too_long} {endless:?}")),
            (with(|it| it.poll = none), "poll: expected at least 10ms, found 0ns"),
            (with(|it| it.stuck_handlers = 0), "stuck_handlers: expected at least 1, found 0"),
        ] {
            assert_eq!(settings.check().unwrap_err().to_string(), format!("worker: {message}"));
        }
    }

    #[test]
    fn each_pause_is_three_times_the_last_up_to_an_hour() {
        let pauses: Vec<_> =
            (1..=8).map(|attempt| Backoff::default().pause(attempt, 0.0).as_secs()).collect();
        assert_eq!(pauses, [10, 30, 90, 270, 810, 2430, 3600, 3600]);
    }

    #[test]
    fn the_random_share_is_at_most_a_fifth_and_adds_nothing() {
        let backoff = Backoff::default();
        assert_eq!(backoff.pause(1, 1.0), Duration::from_secs(8));
        assert_eq!(backoff.pause(1, 0.5), Duration::from_secs(9));
        assert_eq!(backoff.pause(1, 7.0), Duration::from_secs(8));
        assert_eq!(backoff.pause(1, -7.0), Duration::from_secs(10));
    }

    #[test]
    fn the_pause_after_any_attempt_is_within_the_limit() {
        let backoff = Backoff { first: Duration::from_millis(1), ..Backoff::default() };
        for attempt in [0, 1, 2, 20, 21, 22, 1000, u32::MAX] {
            assert!(backoff.pause(attempt, 0.0) <= backoff.longest, "{attempt}");
        }
        assert_eq!(backoff.pause(u32::MAX, 0.0), backoff.longest);
    }
}
