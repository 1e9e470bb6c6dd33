//! The service without sockets: the document's calls, errors, deliveries and retries, row by row.

#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod api;
mod common;
mod deliveries;
mod faults;
mod openapi;
