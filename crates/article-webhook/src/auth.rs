//! Authentication of the sender: tokens, the targets they belong to, and capability URLs.

#[cfg(feature = "capability")]
mod capability;
#[cfg(feature = "capability")]
mod capability_error;
mod targets;
mod token;
mod token_error;
mod token_shape;

#[cfg(feature = "capability")]
pub(crate) use capability::CapabilityRefusal;
#[cfg(feature = "capability")]
pub use capability::{Capability, CapabilityKey};
#[cfg(feature = "capability")]
pub use capability_error::CapabilityError;
pub(crate) use targets::Target;
pub use targets::Targets;
pub use token::AuthToken;
pub use token_error::TokenError;
pub(crate) use token_shape::TokenShape;
