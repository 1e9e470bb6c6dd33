//! Calls over HTTP: to the service, and to a receiver as the service makes them.

mod deliverer;
mod web_url;

mod service;

pub(crate) use deliverer::{
    ANSWER_TIMEOUT, Deliverer, NOT_REACHED, NoAnswer, RemoteArguments, bare_host, beginning,
    is_loopback, meaning, remote,
};
pub(crate) use service::{ServiceArguments, client, configured};
pub(crate) use web_url::WebUrl;
