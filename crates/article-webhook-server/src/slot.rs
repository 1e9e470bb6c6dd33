//! The slot of each connection: the state of its exchange, its deadline, and its position in the order in
//! which connections are closed when there are too many.

mod connection_slot;
mod eviction_queue;
mod exchange_state;

pub(crate) use connection_slot::{ConnectionSlot, Connections, Evicted};
pub(crate) use exchange_state::BodyState;
