//! The whole loop: an article is ordered from the simulated service by the client, generated, pushed over
//! a socket to a receiver, and, where the service gave up, read by the client. On a stepped clock,
//! so that a day takes milliseconds.
#![allow(clippy::unwrap_used)] // a test's unwrap is an assertion, and so is that of its helpers

mod capability;
mod deliveries;
mod document;
mod drill;
mod errors;
mod shop;
mod story;
