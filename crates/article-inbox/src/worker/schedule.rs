//! When a worker does what: state machines without I/O and without a clock. The time and what happened go in; what to do
//! comes out.

mod backoff;
mod heartbeat;
mod prune_timer;
mod shutdown;

mod scheduler;

pub(super) use self::{
    backoff::Backoff,
    heartbeat::Heartbeat,
    prune_timer::PruneTimer,
    scheduler::{Scheduler, Step},
};
