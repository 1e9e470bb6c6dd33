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

    /// How far the system's clock was set since the last call; `None` if it was not, or if the last call was a moment ago.
    pub(super) fn step(&self) -> Option<ClockStep> {
        let step = self.clock.difference();
        (step.distance() > TOLERANCE && self.is_due()).then_some(step)
    }

    /// Moves the times of entries by a step, before the clock follows. Returns how many were moved.
    pub(super) fn move_entries(
        &self,
        step: ClockStep,
        tx: &Connection,
        findings: &Findings,
    ) -> Result<u64, Fault> {
        let now = rounded(self.clock.now());
        if let ClockStep::Back(_) = step {
            statements::store_clock(tx, step.applied_to(now))?;
        }
        statements::follow(&Tx::new(tx, findings, now), step)
    }

    /// Follows the system's clock by this step. The entries were moved.
    pub(super) fn follow(&self, step: ClockStep, moved: u64) {
        self.clock.follow(step);
        self.noticed(step);
        telemetry::clock_followed(step, moved);
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
