//! Which entries a command is for.

mod bulk;
mod filter;

pub(super) use bulk::Selection;
pub(super) use filter::{ChoiceArguments, FilterArguments, before_now};
