//! Sending deliveries: the trait, and the sender that uses sockets.

mod push_body;
mod send_half;
mod sender;
mod socket_sender;

pub use sender::{Sender, Sending};
pub(crate) use socket_sender::{Network, SocketSender};
