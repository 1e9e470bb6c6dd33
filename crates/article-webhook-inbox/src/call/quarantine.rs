use super::{Arrival, Expect};

/// The body of a refused delivery, or an answer of the API that cannot be read.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Quarantine {
    /// The body, under the key of what was delivered.
    pub arrival: Arrival,
    /// Why it was refused, and where it goes wrong.
    pub cause: String,
    /// The job, which is expected. `None` if it is expected already: it is polled.
    pub expect: Option<Expect>,
    /// How many bytes all that is in quarantine may have.
    pub budget: u64,
}

/// What became of the body of a refused delivery. Its job is expected in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has a line in the log")]
pub enum Quarantined {
    /// It is kept.
    Kept,
    /// The same bytes are in quarantine already.
    Duplicate,
    /// The article was handled.
    NotNeeded,
    /// There is no room for it.
    BudgetReached,
}

impl Quarantined {
    /// Its name in metrics.
    #[cfg(feature = "metrics")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Duplicate => "duplicate",
            Self::NotNeeded => "not_needed",
            Self::BudgetReached => "budget_reached",
        }
    }
}
