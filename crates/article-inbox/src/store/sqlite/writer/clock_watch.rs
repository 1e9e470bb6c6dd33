use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use rusqlite::Connection;

use crate::{
    Clock, ClockStep,
    store::sqlite::{
        damage::{Findings, Tx},
        fault::Fault,
        statements,
    },
    telemetry,
    timestamp::rounded,
};

/// How often the system's clock is compared with the store's.
const EVERY: Duration = Duration::from_secs(1);

/// A difference from the system's clock up to this is not followed.
const TOLERANCE: Duration = Duration::from_secs(1);

/// At the start, the clock may show this much less than what the last process stored, …
const MAY_BE_BEHIND: Duration = Duration::from_secs(60);

/// … or this much more. If the store was closed for longer, that is taken for a clock that was set ahead.
const MAY_BE_AHEAD: Duration = Duration::from_secs(24 * 3600);

/// Notices that the system's clock was set, or that the machine was suspended, and lets the store follow.
#[derive(Debug)]
pub(in crate::store::sqlite) struct ClockWatch {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    compared: Instant,
    steady_since: SystemTime,
    step: Option<ClockStep>,
}

impl ClockWatch {
    pub(super) fn new(clock: Clock) -> Self {
        let steady_since = rounded(clock.now());
        let state = State { compared: Instant::now(), steady_since, step: None };
        Self { clock, state: Mutex::new(state) }
    }

    /// Since when the clock has run without being set, and how far it was set last.
    pub(in crate::store::sqlite) fn steady_since(&self) -> (SystemTime, Option<ClockStep>) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.steady_since, state.step)
    }

    /// Compares the clock with the time that the last process stored. Runs in a transaction of the start.
    ///
    /// A time that is far ahead is not stored before retention begins: a start with a clock that is wrong by a year must
    /// not make the next such start look right.
    pub(super) fn begin(&self, tx: &Connection) -> Result<(), Fault> {
        let now = rounded(self.clock.now());
        let step = statements::stored_clock(tx)?.map(|stored| ClockStep::between(stored, now));
        match step {
            Some(step @ ClockStep::Forward(by)) if by > MAY_BE_AHEAD => {
                self.noticed(step);
                telemetry::clock_was_set(step);
                return Ok(());
            }
            Some(step @ ClockStep::Back(by)) if by > MAY_BE_BEHIND => {
                self.noticed(step);
                telemetry::clock_was_set(step);
            }
            _ => {}
        }
        statements::store_clock(tx, now)
    }

    /// Follows the system's clock if it was set.
    pub(super) fn follow(&self, connection: &Connection, findings: &Findings) -> Result<(), Fault> {
        let step = self.clock.difference();
        if step.distance() <= TOLERANCE || !self.is_due() {
            return Ok(());
        }
        let now = rounded(self.clock.now());
        let tx = connection.unchecked_transaction()?;
        let moved = statements::follow(&Tx::new(&tx, findings, now), now, step)?;
        if let ClockStep::Back(_) = step {
            statements::store_clock(&tx, step.applied_to(now))?;
        }
        tx.commit()?;
        self.clock.follow(step);
        self.noticed(step);
        telemetry::clock_followed(step, moved);
        Ok(())
    }

    /// Whether the last comparison was long enough ago.
    fn is_due(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = state.compared.elapsed() >= EVERY;
        if is_due {
            state.compared = Instant::now();
        }
        is_due
    }

    fn noticed(&self, step: ClockStep) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.steady_since, state.step) = (rounded(self.clock.now()), Some(step));
    }
}
