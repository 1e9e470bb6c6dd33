use std::time::Duration;

/// The longest pause between two attempts, so that no entry is delayed indefinitely.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// How long an entry waits between two attempts. Each pause is three times the last one, up to a limit. A
/// random part is subtracted, so that entries that failed together are not retried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Backoff {
    /// The pause after this attempt, counted from 1. `random`, from 0.0 to 1.0, subtracts up to a fifth of it.
    pub(crate) fn pause(&self, attempt: u32, random: f64) -> Duration {
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

#[cfg(test)]
mod tests {
    use super::*;

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
