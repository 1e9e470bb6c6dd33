//! What is shown, as text.

pub(crate) mod command;
pub(crate) mod escape;
pub(crate) mod moment;
pub(crate) mod number;
