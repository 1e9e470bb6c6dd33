//! The place of each connection among all others: how far its exchange is, how long it may take, and which
//! connection is closed when there are too many.

mod connection_slot;
mod eviction_queue;
mod exchange_state;

pub(crate) use connection_slot::{ConnectionSlot, Connections, Evicted};
pub(crate) use exchange_state::BodyState;
