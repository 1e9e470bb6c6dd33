//! Deliveries: what is sent, how, and what the receiver answers.

mod attempt;
mod delivery;
mod outcome;
mod push;
mod send_mode;

pub use attempt::Attempt;
pub(crate) use attempt::AttemptLog;
pub(crate) use delivery::{Delivery, pause_after};
pub use outcome::{Answer, Outcome};
pub use push::Push;
pub use send_mode::SendMode;
