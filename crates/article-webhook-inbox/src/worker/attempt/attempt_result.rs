use std::time::Duration;

use crate::{
    call::Outcome,
    worker::schedule::{Backoff, LONGEST_PAUSE},
};

/// The shortest pause of a snooze. It costs no attempt, so without a pause it would go on for ever without a rest.
const SHORTEST_SNOOZE: Duration = Duration::from_secs(1);

/// How many bytes of a cause are kept.
const LONGEST_CAUSE: usize = 1000;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttemptResult {
    /// The handler returned `Ok`.
    Succeeded,
    /// The handler requests another attempt, after its own pause if it sets one.
    Failed { cause: String, after: Option<Duration> },
    /// The handler puts the entry off.
    Snoozed { after: Duration },
    /// The handler returned that no further attempt will help.
    GaveUp { cause: String },
    /// The handler panicked.
    Panicked { message: String },
    /// The handler did not end in time.
    TimedOut { limit: Duration },
    /// The worker stops, and the handler was cancelled or never started.
    Stopped,
    /// No body of the entry is an article, or its event is unknown.
    Undecodable { seen: usize, cause: String },
    /// A body is damaged, and no other is an article.
    Damaged { seen: usize },
}

impl AttemptResult {
    /// The outcome to store. After a failure another attempt follows, unless this was the last one allowed.
    /// `random` is from 0.0 to 1.0.
    pub(super) fn outcome(
        self,
        attempt: u32,
        allowed: u32,
        backoff: &Backoff,
        random: f64,
    ) -> Outcome {
        let (cause, after) = match self {
            Self::Succeeded => return Outcome::Done,
            Self::Stopped => return Outcome::Released,
            Self::Snoozed { after } => {
                return Outcome::Snoozed { after: after.clamp(SHORTEST_SNOOZE, LONGEST_PAUSE) };
            }
            Self::GaveUp { cause } => return Outcome::Dead { cause: shortened(cause) },
            Self::Undecodable { seen, cause } => return Outcome::Unhandled { seen, cause },
            Self::Damaged { seen } => {
                let cause = "the stored body is not the one that was received".to_owned();
                return Outcome::Corrupt { seen, cause };
            }
            Self::Failed { cause, after } => (cause, after),
            Self::Panicked { message } => (format!("the handler panicked: {message}"), None),
            Self::TimedOut { limit } => (format!("the handler did not end within {limit:?}"), None),
        };
        let cause = shortened(cause);
        if attempt >= allowed {
            return Outcome::Dead { cause };
        }
        let after = after.unwrap_or_else(|| backoff.pause(attempt, random)).min(LONGEST_PAUSE);
        Outcome::Retry { after, cause }
    }

    /// How the handler ended, as a label of a metric; `None` if it did not end by itself or was never started.
    pub(super) fn label(&self) -> Option<&'static str> {
        match self {
            Self::Succeeded => Some("succeeded"),
            Self::Failed { .. } => Some("failed"),
            Self::Snoozed { .. } => Some("snoozed"),
            Self::GaveUp { .. } => Some("gave_up"),
            Self::Panicked { .. } => Some("panicked"),
            Self::TimedOut { .. } => Some("timed_out"),
            Self::Stopped | Self::Undecodable { .. } | Self::Damaged { .. } => None,
        }
    }
}

/// The cause, cut between two characters.
fn shortened(mut cause: String) -> String {
    if let Some(end) = (0..=LONGEST_CAUSE.min(cause.len())).rfind(|at| cause.is_char_boundary(*at))
    {
        cause.truncate(end);
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(result: AttemptResult, attempt: u32) -> Outcome {
        result.outcome(attempt, 3, &Backoff::default(), 0.0)
    }

    fn failed(after: Option<u64>) -> AttemptResult {
        AttemptResult::Failed { cause: "no".to_owned(), after: after.map(Duration::from_secs) }
    }

    #[test]
    fn a_failure_waits_for_its_pause_and_is_dead_after_the_last_attempt() {
        let retry = |seconds| Outcome::Retry {
            after: Duration::from_secs(seconds),
            cause: "no".to_owned(),
        };
        assert_eq!(outcome(failed(None), 1), retry(10));
        assert_eq!(outcome(failed(None), 2), retry(30));
        assert_eq!(outcome(failed(None), 3), Outcome::Dead { cause: "no".to_owned() });
        assert_eq!(outcome(failed(Some(7)), 2), retry(7));
        assert_eq!(outcome(failed(Some(7)), 3), Outcome::Dead { cause: "no".to_owned() });
    }

    #[test]
    fn a_handler_can_put_an_entry_off_for_a_day_at_most() {
        let Outcome::Retry { after, .. } = outcome(failed(Some(1 << 40)), 1) else {
            panic!("a first failure is retried");
        };
        assert_eq!(after, LONGEST_PAUSE);
        let endless = AttemptResult::Snoozed { after: Duration::MAX };
        assert_eq!(outcome(endless, 1), Outcome::Snoozed { after: LONGEST_PAUSE });
    }

    #[test]
    fn a_panic_and_a_handler_that_does_not_end_are_failures() {
        let panicked = AttemptResult::Panicked { message: "oh".to_owned() };
        let cause = "the handler panicked: oh".to_owned();
        assert_eq!(outcome(panicked.clone(), 3), Outcome::Dead { cause });
        assert!(matches!(outcome(panicked, 2), Outcome::Retry { .. }));
        let late = AttemptResult::TimedOut { limit: Duration::from_secs(300) };
        let cause = "the handler did not end within 300s".to_owned();
        assert_eq!(outcome(late, 3), Outcome::Dead { cause });
    }

    #[test]
    fn a_result_that_costs_no_attempt_is_never_dead() {
        assert_eq!(outcome(AttemptResult::Stopped, 3), Outcome::Released);
        let after = Duration::from_secs(7);
        assert_eq!(outcome(AttemptResult::Snoozed { after }, 3), Outcome::Snoozed { after });
        assert_eq!(outcome(AttemptResult::Succeeded, 3), Outcome::Done);
        let cause = || "status: expected a string, found nothing".to_owned();
        let undecodable = AttemptResult::Undecodable { seen: 2, cause: cause() };
        assert_eq!(outcome(undecodable, 3), Outcome::Unhandled { seen: 2, cause: cause() });
        assert!(matches!(
            outcome(AttemptResult::Damaged { seen: 1 }, 3),
            Outcome::Corrupt { seen: 1, .. }
        ));
    }

    #[test]
    fn a_cause_is_cut_between_two_characters() {
        let cause = "é".repeat(700);
        let Outcome::Dead { cause } = outcome(AttemptResult::GaveUp { cause }, 1) else {
            panic!("given up is dead");
        };
        assert_eq!(cause, "é".repeat(500));
    }
}
