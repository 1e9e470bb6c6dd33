//! Polls the API for the jobs that should be there by now.

mod event_loop;
mod poll;

pub(crate) use event_loop::EventLoop;
