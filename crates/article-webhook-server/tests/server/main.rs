//! The promises of the server, over real sockets of the loopback. Deadlines are short.

mod answers;
mod bodies;
mod common;
mod far_proxy;
mod full;
mod heads;
#[cfg(feature = "tracing")]
mod log;
#[cfg(feature = "tracing")]
#[path = "../../../../tests/log_buffer.rs"]
#[allow(dead_code, unnameable_types)] // others take what was logged
mod log_buffer;
mod shutdown;
mod write_stall;
