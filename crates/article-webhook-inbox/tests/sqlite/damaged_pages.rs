//! Damage of indexes, of the log and of what is not ours.

use std::time::Duration;

use article_webhook_inbox::{
    SqliteStore, State,
    store::{Recorded, Store},
};
use rusqlite::types::Value;

use super::{
    CLAIM, Place, arrival,
    damage::{checked, closed, entries, findings},
    damaged_lists::damage_list,
    key, within,
};

pub(super) const LEAF_OF_AN_INDEX: u8 = 0x0a;

async fn states(store: &SqliteStore) -> Vec<(String, State)> {
    let entries = entries(store).await.into_iter();
    entries.map(|entry| (entry.key.job_id.to_string(), entry.state)).collect()
}

impl Place {
    /// Changes what the pages hold, by replacing bytes that occur in them.
    fn replace(&self, old: &[u8], new: &[u8], which: usize) {
        let mut bytes = std::fs::read(&self.path).unwrap();
        let mut places: Vec<_> =
            (0..bytes.len() - old.len()).filter(|at| bytes[*at..].starts_with(old)).collect();
        let at = places.remove(which);
        bytes[at..at + old.len()].copy_from_slice(new);
        std::fs::write(&self.path, bytes).unwrap();
    }

    /// Changes one byte: the one behind these bytes on the first page of a table or an index.
    pub(super) fn change(&self, tree: &str, behind: &[u8], byte: u8) {
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root: u32 = self.sql().query_row(root, [tree], |row| row.get(0)).unwrap();
        let root = root as usize;
        let mut bytes = std::fs::read(&self.path).unwrap();
        let page = &mut bytes[(root - 1) * 8192..root * 8192];
        let at = (0..8192).find(|at| page[*at..].starts_with(behind)).unwrap() + behind.len();
        page[at] = byte;
        std::fs::write(&self.path, bytes).unwrap();
    }
}

/// One flipped bit in the index of what is due: without the check, 32 of 60 articles waited for ever.
#[tokio::test]
async fn an_index_that_differs_from_its_table_is_built_again() {
    let place = closed().await;
    place.change("article_inbox_entries_by_time", b"wai", b'u');
    let store = place.open();
    let told =
        "the index article_inbox_entries_by_time differed from its table, and was built again";
    assert_eq!(findings(&store).await, [told]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
    assert_eq!(store.check().await.unwrap(), []);
}

/// A flipped bit makes the job id of one row that of another, so that the unique index cannot be built.
#[tokio::test]
async fn a_damaged_row_that_has_the_key_of_another_gets_a_name_of_its_own() {
    let place = closed().await;
    // The newest row is the first on the page.
    place.change("article_inbox_entries", b"job_", b'3');
    let store = place.open();
    let expected = [
        ("job_1", State::Waiting),
        ("job_2", State::Waiting),
        ("job_3", State::Waiting),
        ("job_3_damaged_4", State::Corrupt),
    ];
    assert_eq!(states(&store).await, expected.map(|(job, state)| (job.to_owned(), state)));
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3);
    assert_eq!(store.record(arrival("job_4", "{4}")).await.unwrap(), Recorded::Stored);
}

/// An update that does not find the old value in the index fails with the code of a damaged database.
#[tokio::test]
async fn indexes_are_built_again_when_a_call_meets_damage_while_the_store_is_open() {
    let place = closed().await;
    let store = place.open();
    // The index is empty from now on.
    let empty = "CREATE INDEX article_inbox_empty ON article_inbox_entries (state, at) WHERE id < 0;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'article_inbox_empty')
            WHERE name = 'article_inbox_entries_by_time';
        DELETE FROM sqlite_schema WHERE name = 'article_inbox_empty';
        PRAGMA schema_version = 1000";
    place.sql().execute_batch(empty).unwrap();
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed, []);

    assert!(store.bury(key("job_2"), "no".into()).await.unwrap());
    let told = "SQLite found damage, and all indexes were built again";
    assert_eq!(findings(&store).await, [told]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3);
}

/// A file that is searched in the background.
#[tokio::test]
async fn damage_of_a_large_file_is_found_and_mended_while_it_is_open() {
    let place = closed().await;
    let store = place.open();
    for number in 6..15 {
        store.record(arrival(&format!("job_{number}"), vec![b' '; 8 << 20])).await.unwrap();
    }
    store.close().await.unwrap();
    place.damage("UPDATE article_inbox_entries SET attempts = 9 WHERE id = 2");
    place.change("article_inbox_entries_by_time", b"wai", b'u');

    let store = place.open();
    within(60, async || findings(&store).await.len() == 2).await;
    assert_eq!(states(&store).await[1].1, State::Corrupt);
    let mut claim = CLAIM;
    claim.limit = 20;
    assert_eq!(store.claim(claim).await.unwrap().claimed.len(), 12);
    store.close().await.unwrap();

    // The search does not delay the end.
    let store = place.open();
    let began = std::time::Instant::now();
    store.close().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));

    // Damage that a start meets is not left to the search in the background.
    place.change("article_inbox_entries_by_time", &[], LEAF_OF_AN_INDEX ^ 1);
    let store = place.open();
    let told = findings(&store).await;
    assert!(told.iter().any(|told| told.contains("article_inbox_entries_by_time")), "{told:?}");
    assert_eq!(store.check().await.unwrap().len(), 1, "the entry that was damaged before");
}

/// Every new delivery would fail.
#[tokio::test]
async fn a_damaged_text_in_the_schema_refuses_the_start() {
    let place = closed().await;
    place.replace(b"CREATE TABLE sqlite_sequence", b"CREATE TABLE sqliTe_sequence", 0);
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(error.is_damage());
    assert!(error.to_string().contains("sqlite_sequence is not what this version made"), "{error}");
}

/// One bit in the header makes a file that SQLite only reads: a store that opened it could never commit.
#[tokio::test]
async fn a_header_that_forbids_writing_refuses_the_start() {
    let place = closed().await;
    let mut bytes = std::fs::read(&place.path).unwrap();
    bytes[18] ^= 4;
    std::fs::write(&place.path, bytes).unwrap();
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(error.to_string().contains("the header of the file is damaged"), "{error}");
}

/// The application may use the ids of its rows.
#[tokio::test]
async fn a_damaged_list_is_written_anew_and_the_rows_of_the_application_keep_their_ids() {
    let place = closed().await;
    place.shop();
    damage_list(&place);
    let store = place.open();
    assert_eq!(findings(&store).await.len(), 1);
    assert_eq!(place.ids_of_shop(), [2, 3]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
}

impl Place {
    /// A table of the application in the same file, whose first row is gone.
    fn shop(&self) {
        let shop = "CREATE TABLE shop (name TEXT); INSERT INTO shop VALUES ('a'), ('b'), ('c');
            DELETE FROM shop WHERE name = 'a'";
        self.sql().execute_batch(shop).unwrap();
    }

    fn ids_of_shop(&self) -> Vec<i64> {
        let sql = self.sql();
        let mut ids = sql.prepare("SELECT rowid FROM shop ORDER BY rowid").unwrap();
        ids.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }
}

/// SQLite cannot empty an index whose first page it cannot read, and REINDEX begins with that.
#[tokio::test]
async fn an_index_whose_first_page_cannot_be_read_is_built_again() {
    for index in [
        "sqlite_autoindex_article_inbox_entries_1",
        "article_inbox_entries_by_time",
        "article_inbox_entries_held",
        "article_inbox_entries_stuck",
        "article_inbox_entries_other",
        "article_inbox_jobs_key",
    ] {
        for bit in [0, 3, 6] {
            let place = closed().await;
            place.shop();
            // The first byte of a page says what kind of page it is.
            place.change(index, &[], LEAF_OF_AN_INDEX ^ (1 << bit));
            let store = place.open();
            let told = findings(&store).await;
            assert!(!told.is_empty(), "{index}, bit {bit}");
            assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
            assert_eq!(store.record(arrival("job_1", "{1}")).await.unwrap(), Recorded::Duplicate);
            assert_eq!(store.record(arrival("job_9", "{9}")).await.unwrap(), Recorded::Stored);
            assert_eq!(store.check().await.unwrap(), []);
            assert_eq!(place.ids_of_shop(), [2, 3]);
            store.close().await.unwrap();
            assert_eq!(findings(&place.open()).await, [""; 0]);
        }
    }
}

/// What the application keeps in the same file is not ours to judge.
#[tokio::test]
async fn damage_in_a_table_of_the_application_refuses_no_start() {
    let place = closed().await;
    let sql = place.sql();
    sql.execute_batch(
        "CREATE TABLE shop (name TEXT UNIQUE); INSERT INTO shop VALUES ('marker-shop')",
    )
    .unwrap();
    drop(sql);
    place.replace(b"marker-shop", b"marker-shoq", 0);
    let checked: Value =
        place.sql().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_ne!(checked, Value::Text("ok".into()));
    assert_eq!(findings(&place.open()).await, [""; 0]);
}

/// A check of such a table fails without the function.
#[tokio::test]
async fn a_function_that_only_the_application_has_refuses_no_start() {
    let place = closed().await;
    let sql = place.sql();
    sql.execute_batch(
        "CREATE TABLE shop (name TEXT CHECK (length(name) > 0)); INSERT INTO shop VALUES ('a')",
    )
    .unwrap();
    let schema = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'length', 'measure')
        WHERE name = 'shop'";
    sql.execute_batch(schema).unwrap();
    drop(sql);
    place.sql().query_row("PRAGMA quick_check", [], |_| Ok(())).unwrap_err();
    let store = place.open();
    assert_eq!(findings(&store).await, [""; 0]);
    assert_eq!(store.check().await.unwrap(), []);
}

/// A log whose end is unreadable is told, because SQLite forgets the commits in it silently.
#[tokio::test]
async fn a_damaged_log_is_told() {
    let place = closed().await;
    let store = place.open();
    let keep = place.sql();
    keep.execute_batch("BEGIN").unwrap();
    keep.query_row("SELECT count(*) FROM article_inbox_meta", [], |_| Ok(())).unwrap();
    for number in 6..9 {
        store.record(arrival(&format!("job_{number}"), "{}")).await.unwrap();
    }
    let copy = Place::new();
    std::fs::copy(&place.path, &copy.path).unwrap();
    let mut log = std::fs::read(place.beside("-wal")).unwrap();
    let at = log.len() / 2;
    log[at] ^= 1;
    std::fs::write(copy.beside("-wal"), log).unwrap();
    let store_of_copy = copy.open();
    let told = findings(&store_of_copy).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("cannot be read to its end"), "{told:?}");
    assert_eq!(checked(&store_of_copy).await, told, "nothing else shows it any more");
    drop((keep, store));
}

/// The chain of pages that hold a large body leads nowhere. It costs this entry and no other.
#[tokio::test]
async fn an_entry_whose_body_cannot_be_read_blocks_no_other() {
    let place = Place::new();
    let store = place.open();
    store.record(arrival("job_1", vec![b'1'; 100_000])).await.unwrap();
    for number in 2..=4 {
        store.record(arrival(&format!("job_{number}"), "{}")).await.unwrap();
    }
    store.close().await.unwrap();
    // The first four bytes of a page of the chain name the next. The body contains nothing but ones.
    let bytes = std::fs::read(&place.path).unwrap();
    let number = bytes.chunks(8192).position(|page| page[4..] == [b'1'; 8188]).unwrap();

    let store = place.open();
    overwrite(&place.path, number * 8192, &[0xff; 4]);

    let claims = store.claim(CLAIM).await.unwrap();
    let jobs: Vec<_> = claims.claimed.iter().map(|claimed| claimed.key.job_id.as_str()).collect();
    assert_eq!(jobs, ["job_2", "job_3", "job_4"]);
    assert_eq!(claims.next_due, None);
    let entry = entries(&store).await.remove(0);
    let cause = "its bodies cannot be read, a page is damaged";
    assert_eq!((entry.state, entry.cause.as_deref()), (State::Corrupt, Some(cause)));
    assert_eq!(findings(&store).await, [format!("entry 1: {cause}; restore a backup")]);
}

/// Changes the file in another process: closing it in this one would release the locks of SQLite.
pub(super) fn overwrite(path: &std::path::Path, at: usize, bytes: &[u8]) {
    use std::{
        io::Write,
        process::{Command, Stdio},
    };
    let mut dd = Command::new("dd")
        .args(["bs=1", "conv=notrunc", "status=none", &format!("seek={at}")])
        .arg(format!("of={}", path.display()))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    dd.stdin.take().unwrap().write_all(bytes).unwrap();
    assert!(dd.wait().unwrap().success());
}
