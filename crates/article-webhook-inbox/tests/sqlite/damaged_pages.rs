//! Damage of pages, of the log and of what is not ours.

use article_webhook_inbox::{
    SqliteStore,
    store::{Claim, Recorded, Store},
};
use rusqlite::types::Value;

use super::{
    CLAIM, Fixture, arrival,
    damage::{checked, closed, findings},
    key,
};

impl Fixture {
    /// Changes what the pages hold, by replacing bytes that occur in them.
    fn replace(&self, old: &[u8], new: &[u8]) {
        let mut bytes = std::fs::read(&self.path).unwrap();
        let at = bytes.windows(old.len()).position(|found| found == old).unwrap();
        bytes[at..at + old.len()].copy_from_slice(new);
        std::fs::write(&self.path, bytes).unwrap();
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

#[tokio::test]
async fn a_damaged_text_or_a_missing_table_in_the_schema_refuses_the_start() {
    let fixture = closed().await;
    fixture.replace(b"value ANY NOT NULL", b"value ANY NOT NULl");
    let error = SqliteStore::open(&fixture.path).unwrap_err();
    assert!(error.is_damaged());
    let says = "article_inbox_meta differs from what this version makes";
    assert!(error.to_string().contains(says), "{error}");

    let fixture = closed().await;
    fixture.damage("DROP TABLE article_inbox_bodies");
    let error = SqliteStore::open(&fixture.path).unwrap_err().to_string();
    let shown = fixture.shown();
    let says = format!(
        "{shown}: article_inbox_bodies is missing: undo the change, or {}",
        fixture.restore_steps()
    );
    assert_eq!(error, says);
}

/// A page of bodies that the start does not read.
#[tokio::test]
async fn a_page_that_cannot_be_read_fails_the_calls_that_need_it_alone() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 0..40 {
        let body = format!("marker-{number:02}{}", " ".repeat(400));
        store.record(arrival(&format!("job_{number}"), body)).await.unwrap();
    }
    store.close().await.unwrap();
    let mut bytes = std::fs::read(&fixture.path).unwrap();
    let at = bytes.windows(9).position(|found| found == b"marker-15").unwrap();
    bytes[at / 4096 * 4096] = 0; // the kind of the page
    std::fs::write(&fixture.path, bytes).unwrap();

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
    let mut bytes = std::fs::read(&fixture.path).unwrap();
    bytes[18] ^= 4;
    std::fs::write(&fixture.path, bytes).unwrap();
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
    fixture.replace(b"marker-shop", b"marker-shoq");
    let checked: Value =
        fixture.sql().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_ne!(checked, Value::Text("ok".into()));
    assert_eq!(findings(&fixture.open()).await, [""; 0]);
}

/// A check of such a table fails without the function.
#[tokio::test]
async fn a_function_that_only_the_application_has_refuses_no_start() {
    let fixture = crashed().await;
    let sql = fixture.sql();
    sql.execute_batch(
        "CREATE TABLE shop (name TEXT CHECK (length(name) > 0)); INSERT INTO shop VALUES ('a')",
    )
    .unwrap();
    let schema = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'length', 'measure')
        WHERE name = 'shop'";
    sql.execute_batch(schema).unwrap();
    drop(sql);
    fixture.sql().query_row("PRAGMA quick_check", [], |_| Ok(())).unwrap_err();
    let store = fixture.open();
    assert_eq!(findings(&store).await, [""; 0]);
    assert_eq!(store.check().await.unwrap(), []);
}

/// A log whose end is unreadable is reported, because SQLite drops the commits in it silently.
#[tokio::test]
async fn a_damaged_log_is_reported() {
    let fixture = closed().await;
    let store = fixture.open();
    let keep = fixture.sql();
    keep.execute_batch("BEGIN").unwrap();
    keep.query_row("SELECT count(*) FROM article_inbox_meta", [], |_| Ok(())).unwrap();
    for number in 6..9 {
        store.record(arrival(&format!("job_{number}"), "{}")).await.unwrap();
    }
    let copy = Fixture::new();
    std::fs::copy(&fixture.path, &copy.path).unwrap();
    let mut log = std::fs::read(fixture.beside("-wal")).unwrap();
    let at = log.len() / 2;
    log[at] ^= 1;
    std::fs::write(copy.beside("-wal"), log).unwrap();
    let store_of_copy = copy.open();
    let reported = findings(&store_of_copy).await;
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("cannot be read to its end"), "{reported:?}");
    assert_eq!(checked(&store_of_copy).await, reported, "nothing else shows it any more");
    drop((keep, store));
}
