use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{
    State,
    call::{Lease, Outcome, Settled},
};

impl Row {
    /// Stores the outcome of an attempt. `bodies` is how many bodies the entry has now; it matters for
    /// [`Outcome::Unhandled`] and [`Outcome::Corrupt`] alone. The row changed if the result is [`Settled::Settled`].
    pub fn settle(
        &mut self,
        lease: Lease,
        outcome: &Outcome,
        bodies: usize,
        now: SystemTime,
    ) -> Settled {
        if self.state == State::Done && self.fence == lease.fence {
            return Settled::AlreadyDone;
        }
        if !self.is_held(lease, now) {
            return Settled::LostLease;
        }
        // An attempt that does not count says nothing about whether the entry crashes the process.
        if matches!(outcome, Outcome::Done | Outcome::Dead { .. } | Outcome::Retry { .. }) {
            self.interrupted = 0;
        }
        match outcome {
            Outcome::Done => self.end(State::Done, Cause::None, now),
            Outcome::Dead { cause } => self.end(State::Dead, Cause::New(cause.clone()), now),
            Outcome::Retry { after, cause } => {
                self.wait(*after, Cause::New(cause.clone()), now);
            }
            Outcome::Unhandled { seen, cause } => {
                self.reject(State::Unhandled, (*seen, bodies), cause, now);
            }
            Outcome::Corrupt { seen, cause } => {
                self.reject(State::Corrupt, (*seen, bodies), cause, now);
            }
            Outcome::Released => {
                self.uncount_attempt();
                self.wait(Duration::ZERO, Cause::Kept, now);
            }
            Outcome::Snoozed { after } => {
                self.uncount_attempt();
                self.wait(*after, Cause::Kept, now);
            }
        }
        Settled::Settled
    }

    /// No body that the worker checked can be passed to a handler. If a body was added since, the entry waits, so that
    /// a worker checks that body.
    fn reject(
        &mut self,
        state: State,
        (seen, bodies): (usize, usize),
        cause: &str,
        now: SystemTime,
    ) {
        self.uncount_attempt();
        self.end(state, Cause::New(cause.to_owned()), now);
        if bodies > seen {
            self.wait(Duration::ZERO, Cause::None, now);
        }
    }

    fn uncount_attempt(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
    }
}
