//! Which entries a command is for.

mod bulk;
mod filter;

pub(super) use bulk::{Selection, together};
pub(super) use filter::{ChoiceArguments, FilterArguments};
