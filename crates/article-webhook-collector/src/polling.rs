//! Asks the API for the jobs that should be there by now.

mod ask;
mod event_loop;

pub(crate) use event_loop::EventLoop;
