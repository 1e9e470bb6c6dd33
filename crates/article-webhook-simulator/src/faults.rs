//! Faults, by rule or by probability, drawn from the seed.

mod context;
mod corrupt_body;
mod fault;
mod plan;
mod rule;

pub(crate) use context::{FaultContext, FaultSite};
pub(crate) use corrupt_body::corrupt_body;
pub use fault::Fault;
pub(crate) use plan::Plan;
pub use rule::Rule;
