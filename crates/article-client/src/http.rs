//! HTTP: the client, its settings, and one attempt at a call.

mod builder;
mod client;
mod response;
mod transport;

pub use builder::ClientBuilder;
pub use client::Client;
pub(crate) use response::shown;
pub(crate) use transport::MAX_SHORT_BODY;
