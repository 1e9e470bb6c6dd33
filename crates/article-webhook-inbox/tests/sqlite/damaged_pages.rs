//! Damage of pages, of the log and of what is not ours.

use article_webhook_inbox::{
    SqliteStore,
    store::{Claim, Recorded, Store},
};
use rusqlite::types::Value;

use super::{
    CLAIM, Fixture, alter, arrival,
    damage::{checked, closed, findings},
    key, position, record, spoil_page,
};

impl Fixture {
    /// Flips a bit of the last of these letters: its case changes.
    fn flip_last(&self, of: &[u8]) {
        alter(&self.path, |bytes| {
            let at = position(bytes, of);
            bytes[at + of.len() - 1] ^= 0x20;
        });
    }
}

/// The file of a receiver that was killed: the next start checks it.
async fn crashed() -> Fixture {
    let fixture = closed().await;
    let store = fixture.open();
    store.probe().await.unwrap();
    let crashed = fixture.after_a_kill();
    crashed.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    crashed
}

/// A page of bodies that the start does not read.
#[tokio::test]
async fn a_page_that_cannot_be_read_fails_the_calls_that_need_it_alone() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 0..40 {
        let body = format!("marker-{number:02}{}", " ".repeat(400));
        store.record(arrival(&format!("job_{number}"), &body)).await.unwrap();
    }
    store.close().await.unwrap();
    alter(&fixture.path, |bytes| {
        let at = position(bytes, b"marker-15");
        spoil_page(bytes, at);
    });

    let store = fixture.open();
    let error = store.claim(Claim { limit: 40, ..CLAIM }).await.unwrap_err();
    assert!(error.is_damaged(), "{error}");
    let reported = "a page of the database cannot be read: stop the receiver and start it again, which builds indexes again, or says \
        what to do";
    assert_eq!(findings(&store).await, [reported]);
    assert!(checked(&store).await[0].starts_with("SQLite's check found: "));
    assert_eq!(store.record(arrival("job_40", "{}")).await.unwrap(), Recorded::Stored);
    assert!(store.show(key("job_39")).await.unwrap().is_some());
    store.close().await.unwrap();
    let error = SqliteStore::open(&fixture.path).unwrap_err();
    assert!(error.is_damaged() && error.to_string().contains(" restore BACKUP "), "{error}");
}

/// One bit in the header makes a file that SQLite only reads: a store that opened it could never commit.
#[tokio::test]
async fn a_header_that_forbids_writing_refuses_the_start() {
    let fixture = closed().await;
    alter(&fixture.path, |bytes| bytes[18] ^= 4);
    let error = SqliteStore::open(&fixture.path).unwrap_err();
    assert!(error.to_string().contains("the header of the file is damaged"), "{error}");
}

/// What the application keeps in the same file is not ours to check.
#[tokio::test]
async fn damage_in_a_table_of_the_application_refuses_no_start() {
    let fixture = crashed().await;
    let sql = fixture.sql();
    sql.execute_batch(
        "CREATE TABLE shop (name TEXT UNIQUE); INSERT INTO shop VALUES ('marker-shop')",
    )
    .unwrap();
    drop(sql);
    fixture.flip_last(b"marker-shop");
    let checked: Value =
        fixture.sql().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_ne!(checked, Value::Text("ok".into()));
    assert_eq!(findings(&fixture.open()).await, [""; 0]);
}

/// SQLite drops the commits behind the damage silently, and without the lock file nothing else shows that they are missing.
#[tokio::test]
async fn a_damaged_log_without_its_lock_is_reported() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    let copy = fixture.after_a_kill();
    alter(&copy.beside("-wal"), |log| {
        let middle = log.len() / 2;
        log[middle] ^= 1;
    });
    let store = copy.open();
    let reported = findings(&store).await;
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("cannot be read to its end"), "{reported:?}");
    assert_eq!(checked(&store).await, reported);
}
