//! An index whose entry leads to the row of another. That row stays as it is, and the index is built again.

use std::time::Duration;

use article_webhook_inbox::{
    Filter, Prune, SqliteStore, State,
    store::{Outcome, Recorded, Store},
};

use super::{
    CLAIM, Place, arrival,
    damage::{closed, entries, findings},
    key,
};

const BY_KEY: (&str, &str) = ("sqlite_autoindex_article_inbox_entries_1", "job_id, event, id");
const BY_TIME: (&str, &str) = ("article_inbox_entries_by_time", "state, failure, at, id");
const HELD: (&str, &str) = ("article_inbox_entries_held", "at, id");
const BUILT: &str = "SQLite found damage, and all indexes were built again";

impl Place {
    /// Changes an index, and not its table: `changed` is a table with the pages of the index.
    pub(super) fn damage_index(&self, (index, columns): (&str, &str), statement: &str) {
        let sql = self.sql();
        let table =
            format!("CREATE TABLE changed ({columns}, PRIMARY KEY ({columns})) WITHOUT ROWID");
        sql.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let add = "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) \
            SELECT 'table', 'changed', 'changed', rootpage, ?2 FROM sqlite_schema WHERE name = ?1";
        assert_eq!(sql.execute(add, [index, &table]).unwrap(), 1);
        assert_eq!(self.sql().execute(statement, []).unwrap(), 1);
        sql.execute("DELETE FROM sqlite_schema WHERE name = 'changed'", []).unwrap();
    }
}

async fn states(store: &SqliteStore) -> Vec<(String, State)> {
    let entries = entries(store).await.into_iter();
    entries.map(|entry| (entry.key.job_id.to_string(), entry.state)).collect()
}

fn waiting(jobs: std::ops::RangeInclusive<u32>) -> Vec<(String, State)> {
    jobs.map(|job| (format!("job_{job}"), State::Waiting)).collect()
}

#[tokio::test]
async fn a_call_for_one_job_never_changes_the_row_of_another() {
    let place = closed().await;
    let store = place.open();
    place.damage_index(BY_KEY, "UPDATE changed SET id = 3 WHERE id = 2");
    assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Duplicate);
    assert_eq!(findings(&store).await, [BUILT]);
    assert_eq!(states(&store).await, waiting(1..=4));
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn what_is_shown_or_erased_for_one_job_is_never_that_of_another() {
    let place = closed().await;
    let store = place.open();
    place.damage_index(BY_KEY, "UPDATE changed SET id = 3 WHERE id = 2");
    let (entry, bodies) = store.show(key("job_2")).await.unwrap().unwrap();
    assert_eq!((entry.id, &bodies[0].bytes.as_ref().unwrap()[..]), (2, b"{2}".as_slice()));
    store.close().await.unwrap();

    let place = closed().await;
    let store = place.open();
    place.damage_index(BY_KEY, "UPDATE changed SET id = 3 WHERE id = 2");
    assert_eq!(store.forget("job_2".parse().unwrap()).await.unwrap(), 1);
    let left: Vec<_> = states(&store).await.into_iter().map(|(job, _)| job).collect();
    assert_eq!(left, ["job_1", "job_3", "job_4"]);
}

#[tokio::test]
async fn a_list_by_an_index_shows_rows_as_they_are() {
    let place = closed().await;
    let store = place.open();
    place.damage_index(BY_TIME, "UPDATE changed SET state = 'leased' WHERE id = 2");
    let filter = Filter { state: Some(State::Leased), ..Filter::default() };
    assert_eq!(store.list(filter).await.unwrap().entries, []);
    assert_eq!(findings(&store).await, [""; 0]);
}

#[tokio::test]
async fn sound_rows_of_one_key_do_not_prevent_the_start() {
    let place = closed().await;
    place.damage_index(BY_KEY, "DELETE FROM changed WHERE id = 2");
    let columns = "event, state, attempts, fence, at, received_at, conflicts, held, cause, since, interrupted, failures";
    // Without a checksum, as after a completion.
    place.sql().execute_batch(&format!(
        "INSERT INTO article_inbox_entries (job_id, {columns}) SELECT job_id, {columns} FROM article_inbox_entries WHERE id = 2"
    )).unwrap();
    let store = place.open();
    let mut expected = waiting(1..=4);
    expected.push(("job_2_damaged_5".to_owned(), State::Corrupt));
    assert_eq!(states(&store).await, expected);
    assert!(findings(&store).await.iter().any(|told| told.contains("another entry has its key")));
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
}

#[tokio::test]
async fn a_claim_takes_only_what_is_due_in_the_table() {
    for (damage, jobs) in [
        // Two entries of the index lead to one row.
        ("UPDATE changed SET id = 3, at = at - 1 WHERE id = 2", 4),
        ("UPDATE changed SET id = 99 WHERE id = 2", 4),
        ("INSERT INTO changed SELECT 'leased', 0, at, id FROM changed WHERE id = 2", 4),
        ("UPDATE changed SET failure = 1 WHERE id = 2", 4),
        ("UPDATE changed SET state = 'leased' WHERE id = 2", 4),
    ] {
        let place = closed().await;
        let store = place.open();
        place.damage_index(BY_TIME, damage);
        let claims = store.claim(CLAIM).await.unwrap();
        assert_eq!(claims.claimed.len(), jobs, "{damage}");
        assert!(claims.next_due.is_none(), "{damage}");
        assert_eq!(findings(&store).await, [BUILT], "{damage}");
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

/// Indexes are built again at most every five minutes.
#[tokio::test]
async fn an_index_that_cannot_be_built_again_now_neither_harms_rows_nor_claims_for_ever() {
    let place = closed().await;
    let store = place.open();
    let (_, late) = (claimed_first(&store).await, Duration::from_secs(3600));
    place.damage_index(BY_KEY, "UPDATE changed SET id = 3 WHERE id = 2");
    assert!(store.bury(key("job_2"), "no".into()).await.unwrap());
    assert_eq!(findings(&store).await, [BUILT]);

    place.damage_index(BY_TIME, "UPDATE changed SET at = 0, state = 'waiting' WHERE id = 2");
    let claims = store.claim(CLAIM).await.unwrap();
    assert_eq!(claims.claimed.len(), 2);
    assert!(claims.next_due.is_none_or(|due| due > store.now()));
    place.clock.advance(late);
    assert_eq!(entries(&store).await[1].state, State::Dead);
}

async fn claimed_first(store: &SqliteStore) -> article_webhook_inbox::store::Claimed {
    let one = article_webhook_inbox::store::Claim { limit: 1, ..CLAIM };
    store.claim(one).await.unwrap().claimed.remove(0)
}

/// Everything that was done before now.
fn prune(store: &SqliteStore) -> Prune {
    let before = store.now() - Duration::from_secs(60);
    Prune { bodies_before: before, entries_before: before, dead_before: None, limit: 100 }
}

#[tokio::test]
async fn retention_removes_only_what_is_old_in_the_table() {
    for (index, damage) in [
        (BY_TIME, "UPDATE changed SET at = 0, state = 'done' WHERE id = 2"),
        (BY_TIME, "UPDATE changed SET at = 1 WHERE id = 1"),
        (HELD, "UPDATE changed SET at = 0 WHERE id = 1"),
        (HELD, "UPDATE changed SET at = 0, id = 3 WHERE id = 1"),
    ] {
        let place = closed().await;
        let store = place.open();
        place.clock.advance(Duration::from_secs(120));
        let lease = claimed_first(&store).await.lease;
        store.settle(lease, Outcome::Done).await.unwrap();
        place.damage_index(index, damage);
        let pruned = store.prune(prune(&store)).await.unwrap();
        assert_eq!((pruned.bodies, pruned.entries, pruned.more), (0, 0, false), "{damage}");
        assert_eq!(findings(&store).await, [BUILT], "{damage}");
        assert_eq!(entries(&store).await.len(), 4, "{damage}");
        for job in 1..=4 {
            let (_, bodies) = store.show(key(&format!("job_{job}"))).await.unwrap().unwrap();
            assert!(bodies[0].bytes.is_some(), "{damage}: {job}");
        }
    }
}
