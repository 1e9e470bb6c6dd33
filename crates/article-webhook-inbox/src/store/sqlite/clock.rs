//! The time that the store had last, so that a start sees whether its clock may be wrong.

use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use crate::{
    telemetry,
    timestamp::{from_millis, to_millis},
};

/// A clock that is this far ahead of the last time that was stored may be wrong.
const MAX_CLOCK_ADVANCE: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long after a start retention begins, so that what arrived before is old by any clock: the service delivers again for
/// 370 seconds.
const RETENTION_DELAY: Duration = Duration::from_secs(600);

/// The same if the clock may be wrong, so that NTP or a person corrects it before.
const RETENTION_DELAY_AFTER_ADVANCE: Duration = Duration::from_secs(24 * 3600);

/// When retention begins. Runs in the transaction of the start.
///
/// A time that is far ahead is not stored before retention begins: a start with a clock that is wrong by a year must not make
/// the next such start look right.
pub(super) fn retention_from(tx: &Connection, now: SystemTime) -> Result<SystemTime, Fault> {
    let ahead = stored(tx)?.and_then(|stored| now.duration_since(stored).ok());
    if let Some(ahead) = ahead.filter(|ahead| *ahead >= MAX_CLOCK_ADVANCE) {
        telemetry::clock_is_ahead(ahead);
        return Ok(now + RETENTION_DELAY_AFTER_ADVANCE);
    }
    store(tx, now)?;
    Ok(now + RETENTION_DELAY)
}

/// The time that a start or retention stored last; `None` before the first.
fn stored(tx: &Connection) -> Result<Option<SystemTime>, Fault> {
    let stored = "SELECT value FROM article_inbox_meta WHERE name = 'clock'";
    let stored = tx.prepare_cached(stored)?.query_row([], |row| Ok(row.get_ref(0)?.as_i64().ok()));
    Ok(stored.optional()?.flatten().map(from_millis))
}

/// Stores the time.
pub(super) fn store(tx: &Connection, now: SystemTime) -> Result<(), Fault> {
    let store = "INSERT OR REPLACE INTO article_inbox_meta (name, value) VALUES ('clock', ?1)";
    tx.prepare_cached(store)?.execute([to_millis(now)])?;
    Ok(())
}
