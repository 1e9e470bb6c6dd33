//! What is shown, as text.

pub(crate) mod escape;
pub(crate) mod moment;
