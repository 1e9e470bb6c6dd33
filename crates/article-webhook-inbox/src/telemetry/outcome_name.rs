use crate::call::Outcome;

/// The name of an outcome in metrics and logs: the state of the entry, or why it waits again.
pub(super) fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Retry { .. } => "retry",
        Outcome::Dead { .. } => "dead",
        Outcome::Unhandled { .. } => "unhandled",
        Outcome::Corrupt { .. } => "corrupt",
        Outcome::Released => "released",
        Outcome::Snoozed { .. } => "snoozed",
    }
}
