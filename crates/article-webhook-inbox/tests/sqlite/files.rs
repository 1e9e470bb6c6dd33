use article_webhook_inbox::{
    SqliteLocation, SqliteStore, State,
    store::{Outcome, Recorded, Settled, Store},
};

use super::{Fixture, arrival, claimed};

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
