use std::time::Duration;

use article_webhook_inbox::{
    Filter, SqliteLocation, SqliteStore, State,
    store::{Lease, Outcome, Recorded, Settled, Store},
};

use super::{CLAIM, Fixture, arrival, claimed, key};

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    for ending in ["", "-wal", "-shm", "-lock"] {
        let mode = fixture.beside(ending).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{ending}");
    }
    drop(store);

    let mut permissions = fixture.path.metadata().unwrap().permissions();
    permissions.set_mode(0o644);
    std::fs::set_permissions(&fixture.path, permissions).unwrap();
    let open = || SqliteLocation::inspect(&fixture.path).unwrap().open_to_others;
    assert_eq!(open(), [fixture.path.canonicalize().unwrap()], "a tool sees it before");
    let _store = fixture.open();
    assert_eq!(open(), [] as [&std::path::Path; 0]);
    assert_eq!(fixture.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn the_settings_are_those_of_the_connection_that_writes() {
    let fixture = Fixture::new();
    let settings = fixture.open().settings().await.unwrap();
    for expected in [("journal_mode", "wal"), ("synchronous", "2"), ("fullfsync", "1")] {
        let found = settings.iter().find(|(name, _)| *name == expected.0);
        assert_eq!(found.map(|(name, value)| (*name, &**value)), Some(expected));
    }
}

#[tokio::test]
async fn a_stored_entry_survives_a_restart() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let before = store.show(key("job_1")).await.unwrap().unwrap();
    drop(store);
    assert_eq!(fixture.open().show(key("job_1")).await.unwrap().unwrap(), before);
}

#[tokio::test]
async fn closing_leaves_one_file_and_its_lock() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    store.close().await.unwrap();
    assert!(!fixture.beside("-wal").exists());
    assert!(!fixture.beside("-shm").exists());
}

#[tokio::test]
async fn leases_are_freed_at_a_restart() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = claimed(&store).await.lease;
    drop(store);
    fixture.clock.advance(Duration::from_secs(1));

    let store = fixture.open();
    let (entry, _) = store.show(key("job_1")).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.attempts, entry.at), (State::Waiting, 1, fixture.clock.now()));
    assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::LostLease);
    assert_eq!(claimed(&store).await.attempt, 2);
}

#[tokio::test]
async fn a_shared_store_frees_no_lease() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = claimed(&store).await.lease;

    let tool = SqliteStore::open_shared(&fixture.path).unwrap();
    assert_eq!(tool.counts().await.unwrap().of(State::Leased), 1);
    assert_eq!(tool.record(arrival("job_2", "{}")).await.unwrap(), Recorded::Stored);
    drop(tool);
    assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled);
    assert_eq!(store.counts().await.unwrap().total(), 2);
}

#[tokio::test]
async fn a_clock_that_was_set_back_strands_no_entry() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = claimed(&store).await.lease;
    let after = Duration::from_secs(400 * 24 * 3600);
    store.settle(lease, Outcome::Retry { after, cause: "later".into() }).await.unwrap();
    drop(store);

    let store = fixture.open();
    let (entry, _) = store.show(key("job_1")).await.unwrap().unwrap();
    assert_eq!(entry.at, fixture.clock.now() + Duration::from_secs(24 * 3600));
    assert_eq!(store.claim(CLAIM).await.unwrap().next_due, Some(entry.at));
}

#[tokio::test]
async fn the_tables_of_the_application_stay_as_they_are() {
    let fixture = Fixture::new();
    let sql = fixture.sql();
    sql.execute_batch("CREATE TABLE articles (id); INSERT INTO articles VALUES (7)").unwrap();
    sql.execute_batch("PRAGMA user_version = 5; PRAGMA application_id = 6").unwrap();
    drop(sql);
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    store.close().await.unwrap();

    let sql = fixture.sql();
    let number = |query: &str| sql.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT id FROM articles"), 7);
    assert_eq!(number("PRAGMA user_version"), 5);
    assert_eq!(number("PRAGMA application_id"), 6);
}

#[tokio::test]
async fn a_completion_runs_in_a_transaction_of_the_application() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = claimed(&store).await.lease;
    let complete = |lease: Lease| {
        let completion = store.completion(lease).unwrap();
        let parameters = rusqlite::params_from_iter(completion.parameters());
        fixture.sql().execute(completion.sql(), parameters).unwrap()
    };

    assert_eq!(complete(Lease { fence: lease.fence + 1, ..lease }), 0);
    assert_eq!(complete(lease), 1);
    assert_eq!(complete(lease), 0);
    assert_eq!(store.check().await.unwrap(), [], "the checksum of the entry still holds");
    assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::AlreadyDone);
    let lost = Lease { fence: lease.fence - 1, ..lease };
    assert_eq!(store.settle(lost, Outcome::Done).await.unwrap(), Settled::LostLease);
    assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
}

#[tokio::test]
async fn a_completion_after_the_lease_has_ended_changes_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = claimed(&store).await.lease;
    fixture.clock.advance(CLAIM.lease);
    let completion = store.completion(lease).unwrap();
    let parameters = rusqlite::params_from_iter(completion.parameters());
    assert_eq!(fixture.sql().execute(completion.sql(), parameters).unwrap(), 0);
}

#[tokio::test]
async fn a_list_uses_each_index() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 1..=6 {
        let mut arrival = arrival(&format!("job_{number}"), "{}");
        if number > 4 {
            arrival.key.event = "article.updated".into();
        }
        store.record(arrival).await.unwrap();
    }
    store.discard(vec![key("job_2")], "no".into()).await.unwrap();
    let list = async |filter: Filter| -> (Vec<i64>, Option<i64>) {
        let page = store.list(filter).await.unwrap();
        (page.items.iter().map(|entry| entry.id).collect(), page.next)
    };

    let all = Filter::default();
    assert_eq!(list(Filter { limit: 4, ..all.clone() }).await, (vec![1, 2, 3, 4], Some(4)));
    assert_eq!(list(Filter { limit: 4, after: 4, ..all.clone() }).await, (vec![5, 6], None));
    let of = |state| Filter { state: Some(state), ..Filter::default() };
    assert_eq!(list(of(State::Dead)).await, (vec![2], None));
    assert_eq!(list(of(State::Waiting)).await, (vec![1, 3, 4, 5, 6], None));
    assert_eq!(list(of(State::Done)).await, (vec![], None));
    let event = Some("article.updated".into());
    assert_eq!(list(Filter { event: event.clone(), ..all.clone() }).await, (vec![5, 6], None));
    assert_eq!(list(Filter { event, ..of(State::Dead) }).await, (vec![], None));
    let job_id = Some("job_2".parse().unwrap());
    assert_eq!(list(Filter { job_id, ..all }).await, (vec![2], None));
}
