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
mod shutdown;
mod write_stall;
