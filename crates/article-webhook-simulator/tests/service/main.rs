//! The service without sockets: the calls, errors, deliveries and retries of the document.

#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod api;
mod articles;
mod common;
mod deliveries;
mod faults;
