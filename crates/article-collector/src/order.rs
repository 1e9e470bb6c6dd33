//! Orders an article: the intent is stored before the money is spent.

mod outcome;
mod place;

pub use outcome::OrderOutcome;
pub(crate) use place::{Attempt, order};
