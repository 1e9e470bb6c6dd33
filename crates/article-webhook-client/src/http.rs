//! HTTP: the client, its settings, and one attempt at a call.

mod builder;
mod client;
mod read;
mod transport;

pub use builder::ClientBuilder;
pub use client::Client;
