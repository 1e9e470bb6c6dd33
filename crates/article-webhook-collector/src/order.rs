//! Orders an article: the intent is stored before the money is spent.

mod outcome;
mod submit;
mod unknown;

pub use outcome::OrderOutcome;
pub(crate) use submit::{Attempt, order};
pub(crate) use unknown::report_unknown_orders;
