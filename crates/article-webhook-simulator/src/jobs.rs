//! Jobs, from the order to the result.

mod ids;
mod job;
mod recipe;
mod record;

pub(crate) use ids::JobIds;
pub use job::{SimulatedJob, SimulatedJobState};
pub(crate) use recipe::{BYTES_PER_WORD, Recipe};
pub(crate) use record::JobRecord;
