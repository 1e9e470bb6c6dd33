//! The examples as programs: started, delivered to over loopback, and read like a user reads them.
#![allow(clippy::unwrap_used)] // a test's unwrap is an assertion, and so is that of its helpers

mod blog;
mod inbox;
mod program;
mod receivers;
mod service;
mod start;
