//! The rules of the inbox as state machines, without I/O and without a clock: what happens, and when, goes in; what
//! to do comes out. Everything else in this crate is a shell around them.

pub(crate) mod backoff;
pub(crate) mod ending;
pub(crate) mod entry;
#[cfg(feature = "sqlite")]
pub(crate) mod group;
pub(crate) mod heartbeat;
pub(crate) mod hints;
pub(crate) mod pace;
pub(crate) mod probe;
pub(crate) mod retention;
