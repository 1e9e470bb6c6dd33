//! The order of checks: from the headers of a request to a delivery.

mod body_budget;
mod body_limit;
mod build_error;
mod builder;
#[cfg(feature = "capability")]
mod capability_urls;
mod content_headers;
mod delivery;
mod envelope;
mod headers;
mod intake;
mod receiver;
mod runs;
mod settings;

pub use build_error::BuildError;
pub use builder::ReceiverBuilder;
pub use delivery::Delivery;
pub use envelope::Envelope;
pub use headers::Headers;
pub use intake::Intake;
pub use receiver::Receiver;
pub(crate) use runs::{Entrance, Run, RunEnd, RunKey};
