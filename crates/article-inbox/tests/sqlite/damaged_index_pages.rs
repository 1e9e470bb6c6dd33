//! Pages of an index that SQLite cannot read. All pages of the database are replaced by those of a sound copy.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use article_inbox::store::Store;

use super::{
    damage::{closed, findings},
    damaged_pages::LEAF_OF_AN_INDEX,
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
    assert_eq!(store.check().await.unwrap(), [""; 0]);
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
