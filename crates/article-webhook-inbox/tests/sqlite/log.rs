//! The size of the log, beside writers and readers of other programs.

use std::time::Duration;

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
