//! HTTP/1 as a test needs it: requests that are wrong on purpose, and responses that may be anything.

mod connection;
mod observed;
mod request;
mod response_reader;

pub(crate) use connection::{Connection, exchange};
pub(crate) use observed::{Observed, Response};
pub(crate) use request::Request;
