//! What a response of the service means, without any I/O: transports and simulations use the same reading.

mod code;
mod display;
mod outcome;
mod outline;
mod raw;
mod reported;
#[expect(clippy::module_inception, reason = "the file is named for its subject")]
mod response;
mod retry_after;
mod secrets;

pub use code::ErrorCode;
pub use outcome::CallOutcome;
pub(crate) use outline::Outline;
pub use raw::RawResponse;
pub(crate) use raw::{Length, MAX_SHORT_BODY};
pub(crate) use reported::Reported;
pub use response::Response;
pub(crate) use secrets::Secrets;
