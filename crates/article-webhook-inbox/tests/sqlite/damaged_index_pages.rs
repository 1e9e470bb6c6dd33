//! Pages of an index that SQLite cannot read. All pages of the database are replaced by those of a sound copy.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use article_webhook_inbox::store::{Claim, Store};
use tokio::task::JoinSet;

use super::{
    CLAIM, Place, arrival,
    damage::{checked, closed, findings},
    damaged_pages::{LEAF_OF_AN_INDEX, overwrite},
    within,
};

const BY_TIME: &str = "article_inbox_entries_by_time";

/// Without a lock, what another program commits after the copy was made would be replaced by the copy.
#[tokio::test]
async fn what_another_program_commits_while_pages_are_replaced_is_kept() {
    let place = closed().await;
    let sql = place.sql();
    sql.execute_batch(
        "CREATE TABLE orders (number INTEGER PRIMARY KEY); CREATE TABLE large (bytes BLOB)",
    )
    .unwrap();
    for _ in 0..8 {
        sql.execute("INSERT INTO large VALUES (randomblob(1000000))", []).unwrap();
    }
    drop(sql);
    place.change(BY_TIME, &[], LEAF_OF_AN_INDEX ^ 1);

    let is_open = Arc::new(AtomicBool::new(false));
    let application = thread::spawn({
        let (sql, is_open) = (place.sql(), Arc::clone(&is_open));
        move || {
            sql.busy_timeout(Duration::from_secs(30)).unwrap();
            let mut committed = 0;
            while !is_open.load(Ordering::Relaxed) {
                committed += sql.execute("INSERT INTO orders DEFAULT VALUES", []).unwrap();
                thread::sleep(Duration::from_millis(3));
            }
            committed
        }
    });
    let store = place.open();
    within(30, async || !findings(&store).await.is_empty()).await;
    is_open.store(true, Ordering::Relaxed);
    let committed = application.join().unwrap();
    let kept: i64 =
        place.sql().query_row("SELECT count(*) FROM orders", [], |row| row.get(0)).unwrap();
    assert!(committed > 0);
    assert_eq!(usize::try_from(kept).unwrap(), committed);
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn a_column_of_the_application_may_have_the_name_of_the_ids() {
    for (columns, values) in [("RowId TEXT", "'a'"), ("rowid, _rowid_, oid", "'a', 'b', 'c'")] {
        let place = closed().await;
        let notes = format!("CREATE TABLE notes ({columns}); INSERT INTO notes VALUES ({values})");
        place.sql().execute_batch(&notes).unwrap();
        place.change(BY_TIME, &[], LEAF_OF_AN_INDEX ^ 1);
        assert!(!findings(&place.open()).await.is_empty());
        let value: String =
            place.sql().query_row("SELECT rowid FROM notes", [], |row| row.get(0)).unwrap();
        assert_eq!(value, "a");
    }
}

impl Place {
    /// Where the second leaf of an index with several leaves begins.
    fn second_leaf(&self, index: &str) -> usize {
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root: u32 = self.sql().query_row(root, [index], |row| row.get(0)).unwrap();
        let bytes = std::fs::read(&self.path).unwrap();
        let page = &bytes[(root as usize - 1) * 8192..];
        // The places of the cells follow a head of twelve bytes, and a cell begins with the number of a page.
        let cell = usize::from(u16::from_be_bytes([page[14], page[15]]));
        let leaf = u32::from_be_bytes(page[cell..cell + 4].try_into().unwrap());
        (leaf as usize - 1) * 8192
    }
}

/// A large file with 1,199 entries that are due.
async fn large() -> Place {
    let place = closed().await;
    let store = Arc::new(place.open());
    let record = |number: u32| {
        let store = Arc::clone(&store);
        async move { store.record(arrival(&format!("job_{number}"), "{}")).await.unwrap() }
    };
    (5..1200).map(record).collect::<JoinSet<_>>().join_all().await;
    store.close().await.unwrap();
    let large = "CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(70000000))";
    place.sql().execute_batch(large).unwrap();
    place
}

/// All that a check says of such an index is that it ended.
#[tokio::test]
async fn an_index_with_an_entry_that_cannot_be_read_is_built_again_in_a_large_file() {
    let place = large().await;
    let leaf = place.second_leaf(BY_TIME);
    let bytes = std::fs::read(&place.path).unwrap();
    // The length of its record, that of the head, the kind of `waiting`, that of 0, and that of a time.
    let entry = bytes[leaf..].windows(5).position(|bytes| bytes == [0x14, 5, 27, 8, 5]).unwrap();
    overwrite(&place.path, leaf + entry + 2, &[27 | 64]);

    let store = place.open();
    within(60, async || findings(&store).await != [""; 0]).await;
    let told = "SQLite found damage, and all indexes were built again";
    assert_eq!(findings(&store).await, [told]);
    assert_eq!(store.check().await.unwrap(), []);
}

/// A start that reads only the first leaf does not meet the damage.
#[tokio::test]
async fn a_damaged_leaf_of_an_index_is_mended_in_a_large_file_as_the_texts_say() {
    let place = large().await;
    overwrite(&place.path, place.second_leaf(BY_TIME), &[LEAF_OF_AN_INDEX ^ 1]);
    let store = place.open();
    let told = "pages of an index were damaged, and all indexes were built again";
    assert_eq!(findings(&store).await[0], told);

    // A search in the background might mend it before the check, and there is none after such a start.
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    overwrite(&place.path, place.after_a_kill().second_leaf(BY_TIME), &[LEAF_OF_AN_INDEX ^ 1]);
    let advice = "pages of the database are damaged: start the receiver again, which mends them, or says what to do";
    assert_eq!(checked(&store).await, [advice]);
    store.close().await.unwrap();

    let store = place.open();
    assert_eq!(findings(&store).await[0], told);
    let claim = Claim { limit: 2000, ..CLAIM };
    assert_eq!(store.claim(claim).await.unwrap().claimed.len(), 1199);
    assert_eq!(store.check().await.unwrap(), []);
}
