//! What only bytes can say: how a request is framed, when its bytes are sent, and what becomes of
//! the connection.

mod abandoned;
mod budget;
mod draining;
mod expect;
mod forgotten;
pub(crate) mod hang_up;
mod parser;
mod rotation;
mod runs;
