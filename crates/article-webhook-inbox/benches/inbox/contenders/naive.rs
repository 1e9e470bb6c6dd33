use std::{
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{SqliteStore, store::Arrival};
use rusqlite::{Connection, params};

use crate::bodies::Bodies;

/// What an application would write: one transaction per delivery, on one connection behind a mutex.
///
/// It is as fast as that can be: prepared statements, no query before the insert, and SQLite's own checkpoints. It has the
/// tables and indexes of the store, and the same promise: `synchronous=FULL` in WAL mode.
#[derive(Debug)]
pub(crate) struct Naive(Mutex<Connection>);

impl Naive {
    /// Opens a file of its own, with the default page and cache sizes.
    pub(crate) fn open(folder: &Path) -> Self {
        let schema = schema(folder);
        let connection = Connection::open(folder.join("naive.db")).unwrap();
        for (name, value) in
            [("auto_vacuum", "INCREMENTAL"), ("journal_mode", "WAL"), ("synchronous", "FULL")]
        {
            connection.pragma_update(None, name, value).unwrap();
        }
        connection.execute_batch(&schema).unwrap();
        Self(Mutex::new(connection))
    }

    /// As [`waits`](crate::load::waits), in threads instead of tasks: its calls block, and do not pay for the way through a
    /// runtime.
    pub(crate) fn waits(&self, bodies: &Bodies, waiting: usize, until: Instant) -> Vec<Duration> {
        thread::scope(|scope| {
            let deliver = || {
                let mut random = fastrand::Rng::new();
                let mut waits = Vec::new();
                while Instant::now() < until {
                    let arrival = bodies.arrival(&mut random);
                    let start = Instant::now();
                    self.record(&arrival);
                    waits.push(start.elapsed());
                }
                waits
            };
            let threads: Vec<_> = (0..waiting).map(|_| scope.spawn(deliver)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// Returns once the delivery is on disk.
    pub(crate) fn record(&self, arrival: &Arrival) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_millis()).unwrap();
        let connection = self.0.lock().unwrap();
        let run = |sql| connection.prepare_cached(sql).unwrap().execute([]).unwrap();
        run("BEGIN IMMEDIATE");
        let added = connection
            .prepare_cached(
                "INSERT INTO article_inbox_entries \
                 (job_id, event, received_at, state, attempts, fence, at, since, held, target, document, checksum) \
                 VALUES (?1, ?2, ?3, 'waiting', 0, 0, ?3, ?3, 1, ?4, '{}', 0) ON CONFLICT DO NOTHING",
            )
            .unwrap()
            .execute(params![
                arrival.key.job_id.as_str(),
                arrival.key.event.as_str(),
                now,
                &*arrival.target
            ])
            .unwrap();
        assert_eq!(added, 1, "every job is another");
        connection
            .prepare_cached(
                "INSERT INTO article_inbox_bodies (slot, received_at, digest, document, checksum, body) \
                 VALUES (?1, ?2, ?3, '{\"source\":\"webhook\"}', 0, ?4)",
            )
            .unwrap()
            .execute(params![
                connection.last_insert_rowid() * 16,
                now,
                &arrival.digest.as_bytes()[..],
                &arrival.bytes[..],
            ])
            .unwrap();
        run("COMMIT");
    }
}

/// The tables and indexes of the store, as it makes them.
fn schema(folder: &Path) -> String {
    let path = folder.join("schema.db");
    drop(SqliteStore::open(&path).unwrap());
    let connection = Connection::open(path).unwrap();
    let made =
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name LIKE 'article_inbox_%'";
    let mut made = connection.prepare(made).unwrap();
    let made = made.query_map([], |row| row.get::<_, String>(0)).unwrap();
    made.map(|sql| sql.unwrap() + ";").collect()
}
