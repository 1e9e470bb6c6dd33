//! One connection, from its first byte to its close.

mod lingering_close;
mod serve;
mod socket;
mod wait_for_first_byte;

pub(crate) use serve::serve;
