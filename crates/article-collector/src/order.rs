//! Orders an article: the intent is stored before the money is spent.

mod outcome;
mod place;
mod unknown;

pub use outcome::OrderOutcome;
pub(crate) use place::{Attempt, order};
pub(crate) use unknown::tell_of_unknown_orders;
