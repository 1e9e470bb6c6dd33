//! An index that differs from its table: no call changes the row of another, and the next start builds it again.

use std::time::Duration;

use article_webhook_inbox::{
    Prune, SqliteStore,
    store::{Claim, Outcome, Recorded, Store},
};

use super::{
    CLAIM, Fixture, arrival,
    damage::{checked, closed, entries, findings},
    key,
};

const BY_KEY: (&str, &str) = ("sqlite_autoindex_article_inbox_entries_1", "job_id, event, id");
const BY_TIME: (&str, &str) = ("article_inbox_entries_by_time", "state, kind, at, id");
const HELD: (&str, &str) = ("article_inbox_entries_held", "at, id");
const DIFFERS: &str = "an index differs from its table: stop the receiver and start it again, which builds indexes again, or \
    says what to do";

impl Fixture {
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

async fn jobs(store: &SqliteStore) -> Vec<String> {
    entries(store).await.into_iter().map(|entry| entry.key.job_id.to_string()).collect()
}

#[tokio::test]
async fn a_call_for_one_job_never_changes_the_row_of_another_and_the_next_start_builds_the_index() {
    let fixture = closed().await;
    let store = fixture.open();
    fixture.damage_index(BY_KEY, "UPDATE changed SET id = 3 WHERE id = 2");
    for error in [
        store.record(arrival("job_2", "{2}")).await.map(drop).unwrap_err(),
        store.show(key("job_2")).await.map(drop).unwrap_err(),
        store.discard(vec![key("job_2")], "no".into()).await.map(drop).unwrap_err(),
        store.erase(vec!["job_2".parse().unwrap()]).await.map(drop).unwrap_err(),
    ] {
        assert!(error.is_damaged());
        assert_eq!(error.to_string(), DIFFERS);
    }
    assert_eq!(findings(&store).await, [DIFFERS]);
    assert_eq!(jobs(&store).await, ["job_1", "job_3", "job_4"]);
    assert_eq!(store.record(arrival("job_5", "{5}")).await.unwrap(), Recorded::Stored);
    assert!(checked(&store).await[0].starts_with("SQLite's check found: "));

    // A stop after damage is not a clean one.
    store.close().await.unwrap();
    let store = fixture.open();
    let reported = findings(&store).await;
    let says =
        "indexes differed from their tables, and all were built again; SQLite's check had found: ";
    assert!(reported.len() == 1 && reported[0].starts_with(says), "{reported:?}");
    assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Duplicate);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 5);
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn a_start_checks_the_file_unless_the_last_stop_was_clean() {
    let fixture = closed().await;
    let store = fixture.open();
    fixture.damage_index(BY_TIME, "DELETE FROM changed WHERE id = 2");
    let crashed = fixture.after_a_kill();
    store.close().await.unwrap();
    assert_eq!(findings(&fixture.open()).await, [""; 0], "no call has met it");

    let store = crashed.open();
    assert_eq!(findings(&store).await.len(), 1);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
}

#[tokio::test]
async fn an_index_that_is_missing_is_made() {
    let fixture = closed().await;
    fixture.sql().execute_batch("DROP INDEX article_inbox_entries_by_time").unwrap();
    let store = fixture.open();
    let reported = "the index article_inbox_entries_by_time was missing, and was made";
    assert_eq!(findings(&store).await, [reported]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
}

#[tokio::test]
async fn a_claim_passes_over_what_is_not_due_in_the_table() {
    for (damage, jobs) in [
        // Two entries of the index lead to one row.
        ("UPDATE changed SET id = 3, at = at - 1 WHERE id = 2", 3),
        ("UPDATE changed SET id = 99 WHERE id = 2", 3),
        ("INSERT INTO changed SELECT 'leased', 0, at, id FROM changed WHERE id = 2", 4),
        ("UPDATE changed SET kind = 1 WHERE id = 2", 3),
        ("UPDATE changed SET state = 'leased' WHERE id = 2", 3),
        ("UPDATE changed SET at = at - 1 WHERE id = 2", 3),
    ] {
        let fixture = closed().await;
        let store = fixture.open();
        fixture.damage_index(BY_TIME, damage);
        for number in 1..=jobs {
            let claims = store.claim(Claim { limit: 1, ..CLAIM }).await.unwrap();
            assert_eq!(claims.claimed.len(), 1, "{damage}: {number}");
        }
        let claims = store.claim(CLAIM).await.unwrap();
        assert_eq!(claims.claimed, [], "{damage}");
        let ends = store.now() + CLAIM.lease;
        assert_eq!(claims.next_due, Some(ends), "{damage}: it is no reason to claim again");
        assert_eq!(findings(&store).await.len(), 1, "{damage}");
        store.close().await.unwrap();
        let store = fixture.open();
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4, "{damage}");
        assert_eq!(store.check().await.unwrap(), []);
    }
}

#[tokio::test]
async fn retention_removes_only_what_is_old_in_the_table() {
    for (index, damage) in [
        (BY_TIME, "UPDATE changed SET at = 0, state = 'done' WHERE id = 2"),
        (BY_TIME, "UPDATE changed SET at = 1 WHERE id = 1"),
        (HELD, "UPDATE changed SET at = 0 WHERE id = 1"),
        (HELD, "UPDATE changed SET at = 0, id = 3 WHERE id = 1"),
    ] {
        let fixture = closed().await;
        let store = fixture.open();
        fixture.clock.advance(Duration::from_secs(120));
        let first = store.claim(Claim { limit: 1, ..CLAIM }).await.unwrap().claimed.remove(0);
        store.settle(first.lease, Outcome::Done).await.unwrap();
        fixture.damage_index(index, damage);
        let before = store.now() - Duration::from_secs(60);
        let prune =
            Prune { bodies_before: before, entries_before: before, limit: 100, ..Prune::default() };
        let pruned = store.prune(prune).await.unwrap();
        assert_eq!((pruned.bodies, pruned.entries, pruned.more), (0, 0, false), "{damage}");
        for job in 1..=4 {
            let (_, bodies) = store.show(key(&format!("job_{job}"))).await.unwrap().unwrap();
            assert!(bodies[0].bytes.is_some(), "{damage}: {job}");
        }
    }
}
