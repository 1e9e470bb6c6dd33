//! The examples as programs: each test starts one, delivers to it over the loopback, and reads its
//! output.
#![allow(clippy::print_stderr)] // what is skipped is reported
#![allow(clippy::unwrap_used)] // a test's unwrap is an assertion, and so is that of its helpers

mod inbox;
mod program;
mod receivers;
mod service;
