use super::{Arrival, Expect};
use crate::Digest;

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
    /// What the body reports, if that ends its job once the API reports the same.
    pub statement: Option<Digest>,
    /// How many bytes all that is in quarantine may have.
    pub budget: u64,
}

/// What became of the body of a refused delivery. Its job is expected, unless it came to the URL of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has a line in the log")]
pub enum Quarantined {
    /// The body is kept.
    Kept,
    /// The same bytes are in quarantine already.
    Duplicate,
    /// The article was handled, or its job was erased while it was polled.
    NotNeeded,
    /// There is no room for the body.
    BudgetReached,
    /// The body came to the URL of an order of another job. Its own job is not expected because of it.
    OtherJob {
        /// Whether it is kept, as those of two such jobs are for each order.
        kept: bool,
    },
    /// The same, and the order may be this job. It is neither kept nor expected, because the limit of other jobs is reached.
    TooManyJobs,
}

impl Quarantined {
    /// Whether it is in quarantine.
    pub(crate) fn is_kept(self) -> bool {
        matches!(self, Self::Kept | Self::Duplicate | Self::OtherJob { kept: true })
    }

    /// Its name in metrics.
    #[cfg(feature = "metrics")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Duplicate => "duplicate",
            Self::NotNeeded => "not_needed",
            Self::BudgetReached => "budget_reached",
            Self::OtherJob { kept: true } => "other_job_kept",
            Self::OtherJob { kept: false } => "other_job",
            Self::TooManyJobs => "too_many_jobs",
        }
    }
}
