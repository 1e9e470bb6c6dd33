//! The thread that owns the writing connection, and the queue of its calls.

mod checkpointer;
mod command;
mod command_queue;
mod committer;
mod failure;
mod group_commit;
mod handle;
mod status;
mod thread;
mod write_connection;

pub(super) use self::{
    failure::store_has_stopped,
    handle::Handle,
    write_connection::{Shared, WriteConnection, try_start},
};
