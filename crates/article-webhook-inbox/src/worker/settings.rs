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

    #[test]
    fn the_defaults_are_in_range() {
        assert!(Settings::default().check().is_ok());
    }

    #[test]
    fn the_bounds_themselves_are_in_range() {
        let (shortest, longest) = (Duration::from_millis(100), MAX_DURATION);
        let least = Settings {
            concurrency: 1,
            attempts: 1,
            backoff: Backoff { first: Duration::ZERO, longest: Duration::ZERO },
            lease: shortest,
            handler_timeout: Duration::ZERO,
            grace: Duration::ZERO,
            poll: Duration::from_millis(10),
            retention: Retention::default(),
            stuck_handlers: 1,
        };
        assert!(least.check().is_ok());
        let most = Settings {
            backoff: Backoff { first: MAX_PAUSE, longest: MAX_PAUSE },
            lease: longest,
            handler_timeout: longest,
            grace: longest,
            poll: longest,
            ..least
        };
        assert!(most.check().is_ok());
    }

    #[test]
    fn a_setting_out_of_range_is_refused_by_name() {
        let (day, endless) = (MAX_PAUSE, Duration::MAX);
        let backoff = |first, longest| Settings {
            backoff: Backoff { first, longest },
            ..Settings::default()
        };
        let wrong = [
            (
                Settings { concurrency: 0, ..Settings::default() },
                "concurrency: expected at least 1, found 0",
            ),
            (
                Settings { attempts: 0, ..Settings::default() },
                "attempts: expected at least 1, found 0",
            ),
            (
                backoff(day, day * 2),
                "backoff, longest pause: expected at most 86400s, found 172800s",
            ),
            (backoff(day, day / 2), "backoff, first pause: expected at most 43200s, found 86400s"),
            (
                Settings { lease: Duration::ZERO, ..Settings::default() },
                "lease: expected at least 100ms, found 0ns",
            ),
            (
                Settings { lease: MAX_DURATION * 2, ..Settings::default() },
                "lease: expected at most 31536000s, found 63072000s",
            ),
            (
                Settings { handler_timeout: endless, ..Settings::default() },
                "handler_timeout: expected at most 31536000s, found 18446744073709551615.999999999s",
            ),
            (
                Settings { grace: endless, ..Settings::default() },
                "grace: expected at most 31536000s, found 18446744073709551615.999999999s",
            ),
            (
                Settings { poll: Duration::ZERO, ..Settings::default() },
                "poll: expected at least 10ms, found 0ns",
            ),
            (
                Settings { stuck_handlers: 0, ..Settings::default() },
                "stuck_handlers: expected at least 1, found 0",
            ),
        ];
        for (settings, message) in wrong {
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
