//! The customers of the service: their keys, credits, brands and publish targets.

mod account;
mod brand;
mod rate_limit;
mod target;
mod tenant;

pub(crate) use account::Account;
pub use target::{InvalidTarget, Target};
pub use tenant::Tenant;
