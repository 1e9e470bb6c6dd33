//! The thread that owns the writing connection, and the queue of its calls.

mod command;
mod command_queue;
mod committer;
mod failure;
mod group_commit;
mod handle;
mod thread;

pub(super) use self::{
    command::Answer, command_queue::CommandQueue, failure::store_has_stopped, handle::Handle,
};
