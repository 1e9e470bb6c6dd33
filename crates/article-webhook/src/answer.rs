//! What the receiver sends back: causes of refusal, replies of sinks, and the answers made from both.

mod answer;
mod code;
mod refused;
mod rejection;
mod reply;
mod unread_body;

pub use answer::Answer;
pub(crate) use refused::Presented;
pub use refused::{Refused, RefusedBody};
pub use rejection::{Rejection, ServiceHeader};
pub use reply::Reply;
pub(crate) use unread_body::{DrainBudget, UnreadBody};
