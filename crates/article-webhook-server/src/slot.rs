//! The slot of each connection: the state of its exchange, the deadline that follows from it, and the counts of what
//! all connections do.

mod activity;
mod connection_slot;
mod exchange_state;

pub(crate) use activity::Activities;
pub(crate) use connection_slot::ConnectionSlot;
pub(crate) use exchange_state::BodyState;
