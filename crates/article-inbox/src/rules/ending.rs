use std::time::Duration;

use crate::{rules::backoff::Backoff, store::Outcome};

/// The longest pause that a handler can ask for, so that no entry is put off for ever.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// The most bytes of a cause that are kept.
const LONGEST_CAUSE: usize = 1000;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The handler returned `Ok`.
    Succeeded,
    /// It asks for another attempt, after its own pause if it names one.
    Failed {
        cause: String,
        after: Option<Duration>,
    },
    /// It says that no attempt will help.
    GaveUp {
        cause: String,
    },
    Panicked {
        message: String,
    },
    TimedOut {
        limit: Duration,
    },
    /// The worker stops, and the handler did not end in time; or it was never started.
    Stopped,
    /// No body of the entry is an article, or its event is unknown.
    Undecodable {
        seen: usize,
        cause: String,
    },
    /// A body is not what was received, and no other will do.
    Damaged {
        seen: usize,
    },
}

impl Ending {
    /// What to store. A failure is worth another attempt unless this was the last one allowed.
    pub(crate) fn outcome(
        self,
        attempt: u32,
        allowed: u32,
        backoff: &Backoff,
        dice: f64,
    ) -> Outcome {
        let (cause, after) = match self {
            Self::Succeeded => return Outcome::Done,
            Self::Stopped => return Outcome::Released,
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
        let after = after.unwrap_or_else(|| backoff.pause(attempt, dice)).min(LONGEST_PAUSE);
        Outcome::Retry { after, cause }
    }
}

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

    fn outcome(ending: Ending, attempt: u32) -> Outcome {
        ending.outcome(attempt, 3, &Backoff::default(), 0.0)
    }

    fn failed(after: Option<u64>) -> Ending {
        Ending::Failed { cause: "no".to_owned(), after: after.map(Duration::from_secs) }
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
    }

    #[test]
    fn a_panic_and_a_handler_that_does_not_end_are_failures() {
        let panicked = Ending::Panicked { message: "oh".to_owned() };
        let cause = "the handler panicked: oh".to_owned();
        assert_eq!(outcome(panicked.clone(), 3), Outcome::Dead { cause });
        assert!(matches!(outcome(panicked, 2), Outcome::Retry { .. }));
        let late = Ending::TimedOut { limit: Duration::from_secs(300) };
        let cause = "the handler did not end within 300s".to_owned();
        assert_eq!(outcome(late, 3), Outcome::Dead { cause });
    }

    #[test]
    fn what_costs_no_attempt_is_never_dead_by_it() {
        assert_eq!(outcome(Ending::Stopped, 3), Outcome::Released);
        assert_eq!(outcome(Ending::Succeeded, 3), Outcome::Done);
        let cause = || "status: expected a string, found nothing".to_owned();
        let undecodable = Ending::Undecodable { seen: 2, cause: cause() };
        assert_eq!(outcome(undecodable, 3), Outcome::Unhandled { seen: 2, cause: cause() });
        assert!(matches!(
            outcome(Ending::Damaged { seen: 1 }, 3),
            Outcome::Corrupt { seen: 1, .. }
        ));
    }

    #[test]
    fn a_cause_is_cut_between_two_characters() {
        let cause = "é".repeat(700);
        let Outcome::Dead { cause } = outcome(Ending::GaveUp { cause }, 1) else {
            panic!("given up is dead");
        };
        assert_eq!(cause, "é".repeat(500));
    }
}
