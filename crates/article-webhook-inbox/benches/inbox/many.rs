use std::{
    io::Cursor,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use article_webhook_inbox::{Filter, Inbox, SqliteStore, State};
use rusqlite::{Connection, params};

use crate::{
    form::Form,
    lines::{PAGE, body, deliver, job_id, lines},
    scratch,
    table::{Table, at_least, at_most, plain},
};

/// How many entries a second are imported and requeued while deliveries arrive, compared with bare inserts.
pub(crate) fn run(form: Form) {
    let entries = match form {
        Form::Short => 10_000,
        Form::Long => 100_000,
    };
    let runtime = crate::runtime();
    let folder = scratch::folder();
    let bare = rate(entries, || insert(folder.path(), entries));
    let mut table = Table::new(
        "inbox: many",
        "entries of 2 KB a second, in pages of 250, beside a delivery every 10 ms : rows of a bare table, inserted in such pages",
        &["change", "entries", "seconds for 100,000", "a second", ": bare", "longest delivery"],
    );
    let store = SqliteStore::open(folder.path().join("inbox.db")).unwrap();
    let inbox = Inbox::new(store.clone());
    let lines = lines(entries, State::Dead);
    let mut row = |name: &str, change: &mut dyn FnMut()| {
        let is_over = Arc::new(AtomicBool::new(false));
        let deliveries = runtime.spawn(deliver(store.clone(), Arc::clone(&is_over)));
        let rate = rate(entries, change);
        is_over.store(true, Relaxed);
        let longest = runtime.block_on(deliveries).unwrap();
        table.row(
            name,
            [
                entries.to_string(),
                at_most(100_000.0 / rate, 10.0, " s"),
                plain(rate, ""),
                at_least(rate / bare, 0.3, " ×"),
                at_most(longest.as_secs_f64() * 1000.0, 100.0, " ms"),
            ],
        );
    };
    row("import", &mut || {
        let imported = runtime.block_on(inbox.import(Cursor::new(&lines))).unwrap();
        assert_eq!(imported.added, u64::from(entries));
    });
    row("requeue", &mut || {
        let dead = Filter { state: Some(State::Dead), ..Filter::default() };
        let requeued = runtime.block_on(inbox.requeue_all(dead)).unwrap().count;
        assert_eq!(requeued, u64::from(entries));
    });
    println!("{table}");
}

fn rate(entries: u32, change: impl FnOnce()) -> f64 {
    let start = Instant::now();
    change();
    f64::from(entries) / start.elapsed().as_secs_f64()
}

/// What an application would write: a key that is unique, and a body.
fn insert(folder: &Path, rows: u32) {
    let mut connection = Connection::open(folder.join("bare.db")).unwrap();
    for (name, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
        connection.pragma_update(None, name, value).unwrap();
    }
    let table = "CREATE TABLE bare (id INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)";
    connection.execute_batch(table).unwrap();
    for first in (0..rows).step_by(PAGE as usize) {
        let transaction = connection.transaction().unwrap();
        for number in first..first + PAGE {
            let insert = "INSERT INTO bare (job_id, body) VALUES (?1, ?2)";
            let mut insert = transaction.prepare_cached(insert).unwrap();
            insert.execute(params![job_id(number), body(number).into_bytes()]).unwrap();
        }
        transaction.commit().unwrap();
    }
}
