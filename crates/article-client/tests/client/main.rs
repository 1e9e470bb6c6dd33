//! The client against a service that says, byte for byte, what a test makes it say.
#![allow(clippy::unwrap_used)] // an unwrap is an assertion, here as in any test

mod answers;
mod errors;
mod orders;
mod properties;
mod reads;
mod service;
mod waiting;
