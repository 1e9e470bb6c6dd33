//! What the server promises, over real sockets of the loopback. Deadlines are set short; a planted
//! control shows for each kind of test that it can fail.

mod answers;
mod bodies;
mod common;
mod deaf;
mod heads;
mod hosts;
mod mount;
mod room;
mod shutdown;
