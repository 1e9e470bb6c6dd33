//! Deliveries: their requests, how they are sent, and the receiver's answers.

mod attempt;
mod delivery;
mod outcome;
mod push;
mod push_body;
mod send_half;
mod send_mode;
mod sender;
mod socket_sender;

pub use attempt::Attempt;
pub(crate) use attempt::Latest;
pub(crate) use delivery::Delivery;
pub use delivery::pause_after;
pub use outcome::{DeliveryAnswer, DeliveryOutcome};
pub use push::Push;
pub use send_mode::SendMode;
pub use sender::{Sender, Sending};
pub(crate) use socket_sender::{Network, SocketSender, is_loopback};
