use std::{
    thread,
    time::{Duration, Instant},
};

use super::write_connection::WriteConnection;
use crate::{
    store::sqlite::connection::{Access, Checkpoint, WAL_BYTES},
    telemetry,
};

/// The log is copied into the database once it has grown by this much, after the callers were answered, or once no call
/// has come for the pause between two looks.
const CHECKPOINT_BYTES: u64 = 4 << 20;

/// The pause between two attempts to recover without a call.
const RECOVER: Duration = Duration::from_millis(500);

/// The pause between two looks at the log. Other programs write to it as well, as fast as the disk lets them.
const LOOK: Duration = Duration::from_millis(250);

/// A log above this size is emptied, for which other programs must stop for a moment.
const LIMIT: u64 = WAL_BYTES.unsigned_abs();

/// The longest wait for that. All calls wait meanwhile. After a wait in vain, none follows for ten times as long.
const EMPTY: Duration = Duration::from_millis(400);

/// Decides when the log is copied into the database, and keeps it small.
pub(super) struct Checkpointer {
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

impl Checkpointer {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            grown: 0,
            limit: CHECKPOINT_BYTES,
            size: 0,
            next_look: now,
            next_wait: now,
            is_ready: true,
        }
    }

    /// How long the writer waits for calls before it looks after the log.
    pub(super) fn pause(&self, connection: &WriteConnection) -> Option<Duration> {
        let pause = if self.is_ready { LOOK } else { RECOVER };
        (connection.access() == Access::Exclusive).then_some(pause)
    }

    /// A group was committed, and the log has grown by this much.
    pub(super) fn committed(&mut self, connection: &mut WriteConnection, bytes: u64) {
        if connection.access() == Access::Shared {
            return;
        }
        self.grown += bytes;
        let is_much = self.grown >= self.limit;
        if is_much || Instant::now() >= self.next_look {
            self.look(connection);
        }
        if is_much && self.grown > 0 {
            self.checkpoint(connection);
        }
    }

    /// No call came. The store recovers without one.
    pub(super) fn idle(&mut self, connection: &mut WriteConnection) {
        self.is_ready = connection.make_ready().is_ok();
        if !self.is_ready {
            return;
        }
        let before = self.size;
        self.look(connection);
        if self.grown > 0 || self.size > before {
            self.checkpoint(connection);
        }
    }

    /// Looks at the size of the log, and empties it if it is too large.
    fn look(&mut self, connection: &mut WriteConnection) {
        self.next_look = Instant::now() + LOOK;
        self.size = connection.wal_bytes();
        telemetry::wal_bytes(self.size);
        if self.size > LIMIT {
            self.empty(connection);
        }
    }

    /// Copies what readers allow, without waiting for them.
    fn checkpoint(&mut self, connection: &mut WriteConnection) {
        // If a reader prevented the rest from being copied, it counts towards the next checkpoint.
        let left = connection.checkpoint(Checkpoint::Passive).unwrap_or(self.grown);
        self.grown = 0;
        self.limit = CHECKPOINT_BYTES.saturating_sub(left).max(CHECKPOINT_BYTES / 4);
    }

    /// Empties a log that is too large. An application that writes without pause leaves only moments for it.
    fn empty(&mut self, connection: &mut WriteConnection) {
        connection.wait_for_locks(Duration::ZERO);
        let start = Instant::now();
        // Soon after a wait in vain, one attempt is enough to see that a reader has ended.
        let wait = if start < self.next_wait { Duration::ZERO } else { EMPTY };
        while connection.checkpoint(Checkpoint::Truncate) != Some(0) {
            if start.elapsed() >= wait {
                telemetry::log_grows(self.size);
                self.next_wait = self.next_wait.max(start + wait * 10);
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.size = connection.wal_bytes();
        self.grown = 0;
        self.limit = CHECKPOINT_BYTES;
        telemetry::wal_bytes(self.size);
    }
}
