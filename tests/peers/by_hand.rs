//! Jobs in a table by hand: a transaction claims one, and a transaction completes it, on one connection behind a mutex.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use article_webhook::ArticleResult;
use rusqlite::{Connection, OptionalExtension};

use crate::{bodies::workable, claims::ENTRIES};

/// As [`claims::rate`](crate::claims::rate): stores jobs, and counts how many threads claim, read and complete in a second.
pub(crate) fn rate(folder: &Path, handlers: u16) -> f64 {
    let mut connection = Connection::open(folder.join("by_hand.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT NOT NULL, body BLOB NOT NULL); \
             CREATE INDEX waiting ON jobs (id) WHERE state = 'waiting'",
        )
        .unwrap();
    let mut random = fastrand::Rng::new();
    let stored = connection.transaction().unwrap();
    for _ in 0..ENTRIES {
        let body = &workable(16 * 1024, &mut random).bytes[..];
        stored.execute("INSERT INTO jobs (state, body) VALUES ('waiting', ?1)", [body]).unwrap();
    }
    stored.commit().unwrap();

    let connection = Mutex::new(connection);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..handlers {
            scope.spawn(|| {
                while let Some((id, body)) = claim(&connection) {
                    ArticleResult::from_json_with_drift(&body).unwrap();
                    complete(&connection, id);
                }
            });
        }
    });
    let rate = ENTRIES as f64 / start.elapsed().as_secs_f64();
    let left = "SELECT count(*) FROM jobs WHERE state != 'done'";
    let connection = connection.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(connection.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    rate
}

fn claim(connection: &Mutex<Connection>) -> Option<(i64, Vec<u8>)> {
    let connection = connection.lock().unwrap();
    let claim = "UPDATE jobs SET state = 'running' \
                 WHERE id = (SELECT id FROM jobs WHERE state = 'waiting' ORDER BY id LIMIT 1) RETURNING id, body";
    let mut claim = connection.prepare_cached(claim).unwrap();
    claim.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional().unwrap()
}

fn complete(connection: &Mutex<Connection>, id: i64) {
    let connection = connection.lock().unwrap();
    let complete = "UPDATE jobs SET state = 'done' WHERE id = ?1";
    connection.prepare_cached(complete).unwrap().execute([id]).unwrap();
}
