//! HTTP/1 for tests: requests that may be invalid on purpose, and responses that may be invalid.

mod connection;
mod observed;
mod request;
mod response_reader;

pub(crate) use connection::{Connection, exchange};
pub(crate) use observed::{OTHER_METHOD, OVER_THE_LIMIT, Observed, Response};
pub(crate) use request::Request;
