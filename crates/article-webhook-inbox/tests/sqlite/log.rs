//! The size of the log, beside writers and readers of other programs.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::store::Store;

use super::{Fixture, arrival, reader, record, within};

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 64 * MIB;

/// An application that writes to tables of its own, as fast as it can, and copies no log.
fn write(fixture: &Fixture, mut go_on: impl FnMut(u64) -> bool) {
    let application = fixture.sql();
    let settings = "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; \
                    CREATE TABLE IF NOT EXISTS application (page)";
    application.execute_batch(settings).unwrap();
    let mut written = 0;
    while go_on(written) {
        let page =
            "INSERT OR REPLACE INTO application (rowid, page) VALUES (?1 % 8, zeroblob(1048576))";
        application.execute(page, [(written / MIB).cast_signed()]).unwrap();
        written += MIB;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_writes_for_seconds_does_not_let_the_log_grow() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    let is_over = AtomicBool::new(false);
    let (largest, written) = thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut largest = 0;
            while !is_over.load(Ordering::Relaxed) {
                let size = fixture.beside("-wal").metadata().map_or(0, |log| log.len());
                largest = largest.max(size);
                thread::sleep(Duration::from_millis(5));
            }
            largest
        });
        let (start, mut last) = (Instant::now(), 0);
        write(&fixture, |written| {
            last = written;
            // Not faster than a disk.
            thread::sleep(Duration::from_millis(15));
            // On a machine that is busy it takes longer to write enough.
            let [least, most] = [7, 60].map(Duration::from_secs);
            start.elapsed() < least || (written <= 3 * LIMIT && start.elapsed() < most)
        });
        is_over.store(true, Ordering::Relaxed);
        (looking.join().unwrap(), last)
    });
    assert!(written > 3 * LIMIT, "{} MiB written", written / MIB);
    assert!(largest < 2 * LIMIT, "the log had {} MiB", largest / MIB);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_a_reader_holds_is_shown_and_shrinks_when_the_reader_ends() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    let reader = reader(&fixture);
    write(&fixture, |written| written < LIMIT + 20 * MIB);
    let shown = store.health().await.unwrap().wal_bytes;
    assert!(shown > LIMIT, "{} MiB", shown / MIB);
    // Deliveries go on.
    record(&store, 1..3).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(store.health().await.unwrap().wal_bytes > LIMIT);
    drop(reader);
    within(8, async || store.health().await.unwrap().wal_bytes <= LIMIT).await;
}

#[tokio::test]
async fn the_log_does_not_grow_with_what_is_stored() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let body = vec![b'a'; 8 << 20];
    for number in 0..10 {
        store.record(arrival(&format!("job_{number}"), &body)).await.unwrap();
    }
    // The last answer comes before the checkpoint, and this answer after it.
    store.probe().await.unwrap();
    let log = fixture.beside("-wal").metadata().unwrap().len();
    assert!(log < 48 * MIB, "{log}");
    let file = fixture.path.metadata().unwrap().len();
    assert!(file > 40 * MIB, "{file}, log {log}");
}
