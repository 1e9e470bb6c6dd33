//! Calls over HTTP: to the service, and to a receiver as the service makes them.

mod delivering;
mod service;

pub(crate) use delivering::{Deliverer, NoAnswer, PATIENCE, RemoteArguments, meaning, remote};
pub(crate) use service::{ServiceArguments, client, configured};
