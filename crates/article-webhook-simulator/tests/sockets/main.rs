//! The simulator over sockets, with the client of this workspace and with several receivers.

#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod client;
mod clocks;
mod receiver;
mod sending;
