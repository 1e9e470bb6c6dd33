use article_webhook_inbox::{SqliteStore, store::Store};

use super::{Fixture, record};

fn refusal(fixture: &Fixture) -> String {
    let error = SqliteStore::open(&fixture.path).unwrap_err();
    assert!(!error.is_transient());
    error.to_string()
}

#[test]
fn a_second_owner_is_refused() {
    let fixture = Fixture::new();
    let first = fixture.open();
    let shown = fixture.shown();
    let says = format!(
        "this process has {shown} open already: clone the inbox or the store that is open, or close it first"
    );
    assert_eq!(refusal(&fixture), says);
    drop(first);

    // A lock belongs to the file that was opened, as if another process had done that.
    let other = std::fs::File::open(fixture.beside("-lock")).unwrap();
    other.lock().unwrap();
    assert_eq!(
        refusal(&fixture),
        format!(
            "another process uses {shown}, and holds the lock {shown}-lock: stop that process first. Worker and collector run in the receiver's process, or \
             several processes share an inbox with article-webhook-postgres. `SqliteSettings::wait_for_lock` and `article-webhook \
             listen --wait` wait until that process has ended; a tool opens the file with `SqliteStore::open_shared`"
        )
    );
    other.unlock().unwrap();
    fixture.open();
}

#[tokio::test]
async fn another_schema_is_refused_and_stays_as_it_is() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    drop(store);
    fixture
        .sql()
        .execute("UPDATE article_inbox_meta SET value = 99 WHERE name = 'schema'", [])
        .unwrap();
    let expected = format!(
        "{} has schema 99, and this version of the program needs 1: use the version that made the file, or name another file",
        fixture.shown()
    );
    assert_eq!(refusal(&fixture), expected);
    let error = SqliteStore::open_shared(&fixture.path).unwrap_err();
    assert_eq!(error.to_string(), expected);

    // As it is for the version that made the file.
    fixture
        .sql()
        .execute("UPDATE article_inbox_meta SET value = 1 WHERE name = 'schema'", [])
        .unwrap();
    assert_eq!(fixture.total().await, 1);
    let other = SqliteStore::open(fixture.path.with_file_name("other.db")).unwrap();
    assert_eq!(other.counts().await.unwrap().total(), 0, "another file");
}
