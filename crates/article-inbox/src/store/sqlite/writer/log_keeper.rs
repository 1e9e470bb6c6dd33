use std::{
    thread,
    time::{Duration, Instant},
};

use super::write_connection::WriteConnection;
use crate::{
    store::sqlite::connection::{Access, Checkpoint, LOG_BYTES},
    telemetry,
};

/// The log is copied into the database once it has grown by this much, after the callers were answered …
const CHECKPOINT_BYTES: u64 = 4 << 20;

/// … or once no call has come for this long.
const IDLE: Duration = Duration::from_millis(250);

/// The pause between two looks at a log in which nothing waits to be copied. Other programs write to it as well.
const LOOK: Duration = Duration::from_secs(1);

/// A log above this size is emptied, for which other programs must stop for a moment.
const LIMIT: u64 = LOG_BYTES.unsigned_abs();

/// The longest wait for that. All calls wait meanwhile.
const EMPTY: Duration = Duration::from_millis(400);

/// The pause after a wait in vain.
const REST: Duration = Duration::from_secs(4);

/// Decides when the log is copied into the database, and keeps it small.
pub(super) struct LogKeeper {
    /// How much the log has grown by the calls since the last checkpoint, roughly …
    grown: u64,
    /// … and how much it may grow before the next.
    limit: u64,
    /// The size at the last look.
    size: u64,
    next_look: Instant,
    next_wait: Instant,
    is_ready: bool,
}

impl LogKeeper {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            grown: 0,
            limit: CHECKPOINT_BYTES,
            size: 0,
            next_look: now,
            next_wait: now,
            is_ready: false,
        }
    }

    /// How long the writer waits for calls before it looks after the log.
    pub(super) fn pause(&self, connection: &WriteConnection) -> Option<Duration> {
        let pause = if self.grown > 0 || !self.is_ready { IDLE } else { LOOK };
        (connection.access() == Access::Exclusive).then_some(pause)
    }

    /// A group was committed, and the log has grown by this much.
    pub(super) fn committed(&mut self, connection: &mut WriteConnection, bytes: u64) {
        if connection.access() == Access::Shared {
            return;
        }
        self.grown += bytes;
        if self.grown >= self.limit || Instant::now() >= self.next_look {
            self.look(connection);
        }
    }

    /// No call came. The store recovers without one.
    pub(super) fn idle(&mut self, connection: &mut WriteConnection) {
        self.is_ready = connection.make_ready().is_ok();
        if self.is_ready {
            self.look(connection);
        }
    }

    fn look(&mut self, connection: &mut WriteConnection) {
        self.next_look = Instant::now() + LOOK;
        let size = connection.log_bytes();
        let is_grown = size > self.size;
        self.size = size;
        telemetry::log_bytes(size);
        if size > LIMIT {
            self.empty(connection);
        } else if self.grown > 0 || is_grown {
            self.checkpoint(connection);
        }
    }

    /// Copies what readers allow, and waits for nobody.
    fn checkpoint(&mut self, connection: &mut WriteConnection) {
        // If a reader prevented the rest from being copied, it counts towards the next checkpoint.
        let left = connection.checkpoint(Checkpoint::Passive).unwrap_or(self.grown);
        self.grown = 0;
        self.limit = CHECKPOINT_BYTES.saturating_sub(left).max(CHECKPOINT_BYTES / 4);
    }

    /// Empties a log that is too large. An application that writes without pause leaves only moments for it.
    fn empty(&mut self, connection: &mut WriteConnection) {
        let start = Instant::now();
        if start < self.next_wait {
            return self.checkpoint(connection);
        }
        connection.wait_for_locks(Duration::ZERO);
        while connection.checkpoint(Checkpoint::Truncate) != Some(0) {
            if start.elapsed() >= EMPTY {
                telemetry::log_grows(self.size);
                self.next_wait = Instant::now() + REST;
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.size = connection.log_bytes();
        self.grown = 0;
        self.limit = CHECKPOINT_BYTES;
        telemetry::log_bytes(self.size);
    }
}
