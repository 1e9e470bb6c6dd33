//! What only bytes can say: how a request is framed, when its bytes are sent, and what becomes of
//! the connection.

mod chunks;
mod draining;
mod expect;
mod forgotten;
pub(crate) mod hang_up;
mod heads;
mod keep_alive;
mod lengths;
mod parser;
mod rotation;
