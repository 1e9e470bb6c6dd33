//! Authentication of the sender: tokens, the targets they belong to, and capability URLs.

mod accepted_targets;
#[cfg(feature = "capability")]
mod capability;
#[cfg(feature = "capability")]
mod capability_error;
mod targets;
mod token;
mod token_error;
mod token_shape;

pub(crate) use accepted_targets::AcceptedTargets;
#[cfg(feature = "capability")]
pub(crate) use capability::CapabilityRefusal;
#[cfg(feature = "capability")]
pub use capability::{Capability, CapabilityKey};
#[cfg(feature = "capability")]
pub use capability_error::CapabilityError;
pub use targets::Targets;
pub(crate) use targets::{CAPABILITY, Target, labels};
pub use token::AuthToken;
pub use token_error::TokenError;
pub(crate) use token_shape::TokenShape;
