//! The promises of the server, over real sockets of the loopback. Deadlines are short. For each kind of test a
//! control with a planted fault shows that it can fail.

mod answers;
mod bodies;
mod common;
mod far_proxy;
mod full;
mod heads;
mod hosts;
#[cfg(feature = "tracing")]
mod log;
#[cfg(feature = "tracing")]
#[path = "../../../../tests/log_buffer.rs"]
#[allow(dead_code, unnameable_types)] // others take what was logged
mod log_buffer;
mod shutdown;
mod write_stall;
