//! The calls of the service, as methods of [`Client`](crate::Client).

mod articles;
mod configuration;
mod post;
mod wait;

pub use wait::Wait;
