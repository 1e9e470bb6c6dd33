//! What the store is measured against.

pub(crate) mod log;
pub(crate) mod naive;
