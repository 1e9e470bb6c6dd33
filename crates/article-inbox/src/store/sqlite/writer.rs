//! The thread that owns the connection which writes, and the queue of calls for it.

mod command;
mod command_queue;
mod committer;
mod failure;
mod group_commit;
mod handle;
mod thread;

pub(super) use self::{failure::store_has_stopped, handle::Handle};
