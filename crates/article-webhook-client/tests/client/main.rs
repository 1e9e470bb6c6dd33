//! The client against a service that sends exactly the bytes of a test.
#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod errors;
mod once;
mod orders;
mod outcomes;
mod reads;
mod service;
mod waiting;
