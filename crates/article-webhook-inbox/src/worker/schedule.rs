//! The schedule of a worker, as state machines without I/O and without a clock. Their input is the time
//! and an event, their output the next action.

mod backoff;
mod capacity;
mod claim_pause;
mod heartbeat;
mod prune_timer;
mod shutdown;

mod scheduler;

pub(super) use self::{
    backoff::{Backoff, LONGEST_PAUSE},
    heartbeat::Heartbeat,
    prune_timer::PruneTimer,
    scheduler::{Scheduler, Step},
};
