use std::time::Duration;

use article_webhook_inbox::{Error, ExpectedJob, OVERDUE_AFTER};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// The pause between two polls of a job that is overdue, and the longest pause that the ledger keeps.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

/// When a job is polled. After the first poll, each pause is half as long again as the last one, up to the longest,
/// minus a random part of at most a half. A job that is expected since 72 hours is polled once a day.
///
/// No number of polls ends a job, and retention removes none that is open: one that the service never finishes stays
/// [overdue](article_webhook_inbox::LedgerCounts::overdue) and takes a token a day, until its article comes, the service gives
/// it up, or a person [erases](article_webhook_inbox::Inbox::erase) it.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_collector::Schedule;
///
/// let schedule = Schedule::webhooks();
/// assert_eq!(schedule.first(), Duration::from_secs(600));
/// assert_eq!(Schedule::polling().first(), Duration::from_secs(20));
///
/// let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
/// assert!(Schedule::new(second, hour).is_ok());
/// let error = Schedule::new(hour, second).unwrap_err();
/// assert_eq!(error.to_string(), "schedule: the first pause must not be longer than the longest");
/// # Ok::<(), article_webhook_inbox::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    first: Duration,
    longest: Duration,
}

impl Schedule {
    /// For an application that the service delivers to: the first poll is ten minutes after the order, when the
    /// service has delivered or has given up (service document, section 6.2). The longest pause is an hour.
    #[must_use]
    pub fn webhooks() -> Self {
        Self { first: Duration::from_secs(600), longest: HOUR }
    }

    /// For an application that the service does not deliver to: the first poll is 20 seconds after the order. The
    /// longest pause is an hour.
    #[must_use]
    pub fn polling() -> Self {
        Self { first: Duration::from_secs(20), longest: HOUR }
    }

    /// A schedule with this first pause and this longest pause.
    ///
    /// # Errors
    ///
    /// The first pause is under a millisecond, or longer than the longest; or the longest is over a day.
    pub fn new(first: Duration, longest: Duration) -> Result<Self, Error> {
        if first < Duration::from_millis(1) {
            return Err(Error::invalid("schedule: the first pause must be at least 1 ms"));
        }
        if first > longest {
            let message = "schedule: the first pause must not be longer than the longest";
            return Err(Error::invalid(message));
        }
        if longest > DAY {
            return Err(Error::invalid("schedule: the longest pause must be at most a day"));
        }
        Ok(Self { first, longest })
    }

    /// How long after an order its job is polled first.
    #[must_use]
    pub fn first(&self) -> Duration {
        self.first
    }

    /// The pause after a poll that brought no article. `expected_for`: how long the job is expected. `random` is
    /// at least 0 and under 1.
    pub(crate) fn pause(&self, job: &ExpectedJob, expected_for: Duration, random: f64) -> Duration {
        if expected_for >= OVERDUE_AFTER {
            return DAY;
        }
        let growth = 1.5_f64.powi(i32::try_from(job.polls).unwrap_or(i32::MAX));
        let pause = (self.first.as_secs_f64() * growth).min(self.longest.as_secs_f64());
        Duration::from_secs_f64(pause * (1.0 - random / 2.0))
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::webhooks()
    }
}

#[cfg(test)]
mod tests {
    use article_webhook_inbox::{Reason, store::JobRow};

    use super::*;

    fn polled(polls: u32) -> ExpectedJob {
        let mut job = JobRow::unread().into_job(1, "job_1".parse().unwrap());
        job.polls = polls;
        job.reason = Reason::Ordered;
        job
    }

    #[test]
    fn pauses_grow_by_half_up_to_an_hour_minus_a_random_part_of_at_most_a_half() {
        let longest = |schedule: Schedule| {
            (1..=6)
                .map(|polls| schedule.pause(&polled(polls), HOUR, 0.0).as_secs())
                .collect::<Vec<_>>()
        };
        assert_eq!(longest(Schedule::webhooks()), [900, 1350, 2025, 3037, 3600, 3600]);
        assert_eq!(longest(Schedule::polling()), [30, 45, 67, 101, 151, 227]);
        for (random, seconds) in [(0.0, 3600), (0.5, 2700), (0.999_999, 1800)] {
            let pause = Schedule::polling().pause(&polled(u32::MAX), HOUR, random);
            assert_eq!(pause.as_secs(), seconds, "{random}");
        }
    }

    #[test]
    fn an_overdue_job_is_polled_once_a_day_however_often_it_was() {
        for polls in [1, 100, u32::MAX] {
            assert_eq!(Schedule::webhooks().pause(&polled(polls), OVERDUE_AFTER, 0.9), DAY);
            let before = OVERDUE_AFTER - Duration::from_millis(1);
            assert!(Schedule::webhooks().pause(&polled(polls), before, 0.0) <= HOUR);
        }
    }

    #[test]
    fn a_schedule_that_cannot_be_kept_is_refused() {
        let second = Duration::from_secs(1);
        for (first, longest, message) in [
            (Duration::ZERO, HOUR, "schedule: the first pause must be at least 1 ms"),
            (second, DAY + second, "schedule: the longest pause must be at most a day"),
        ] {
            assert_eq!(Schedule::new(first, longest).unwrap_err().to_string(), message);
        }
        assert_eq!(Schedule::new(Duration::from_secs(600), HOUR).unwrap(), Schedule::webhooks());
    }
}
