//! Files that are removed or replaced while the store is open.
#![cfg(unix)]

use std::fs;

use article_webhook_inbox::{
    SqliteStore,
    store::{Recorded, Store},
};

use super::{Fixture, arrival, record, within};

fn log_is_gone(fixture: &Fixture) -> String {
    let shown = fixture.shown();
    format!(
        "the log {shown}-wal or its index {shown}-shm was removed or replaced: put both back. If they were deleted, stop every \
         program that uses {shown}, move what is left of them and {shown}-lock away, start again, and fetch the jobs of the last \
         moments from the API: they may have been in the deleted log alone"
    )
}

/// Health says so without a call, and no delivery is acknowledged that a restart would lose. Another file in the place of the log
/// is not touched.
#[tokio::test]
async fn a_log_that_is_removed_or_replaced_fails_every_call_until_it_is_back() {
    for (ending, is_replaced) in [("-wal", false), ("-shm", false), ("-wal", true)] {
        let fixture = Fixture::new();
        let store = fixture.open();
        record(&store, 0..5).await;
        let (file, away) = (fixture.beside(ending), fixture.beside("-away"));
        let take_away = || {
            fs::rename(&file, &away).unwrap();
            if is_replaced {
                fs::write(&file, "something else").unwrap();
            }
        };
        take_away();
        let expected = log_is_gone(&fixture);
        let blocked = async || store.health().await.unwrap().blocked;
        within(4, async || blocked().await.is_some_and(|it| it.to_string() == expected)).await;
        let error = store.record(arrival("job_5", "{}")).await.unwrap_err();
        assert!(error.is_transient());
        assert_eq!(error.to_string(), expected);

        fs::rename(&away, &file).unwrap();
        assert_eq!(store.record(arrival("job_5", "{}")).await.unwrap(), Recorded::Stored);
        assert!(blocked().await.is_none());
        assert_eq!(fixture.after_a_kill().total().await, 6);
        if is_replaced {
            take_away();
            drop(store);
            assert_eq!(fs::read(&file).unwrap(), b"something else");
        }
    }
}

#[tokio::test]
async fn without_its_lock_a_store_acknowledges_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..2).await;
    fs::remove_file(fixture.beside("-lock")).unwrap();
    let shown = fixture.shown();
    let expected = format!(
        "the lock {shown}-lock was removed or replaced, and no longer keeps a second receiver out: restart this receiver"
    );
    let error = store.record(arrival("job_2", "{}")).await.unwrap_err();
    assert!(error.is_transient());
    assert_eq!(error.to_string(), expected);

    // Neither the lock nor the name shows that it is the same file.
    let other = fixture.beside("-other");
    fs::rename(&fixture.path, &other).unwrap();
    let error = SqliteStore::open(&other).unwrap_err();
    assert!(error.to_string().starts_with("this process has "), "{error}");
    fs::rename(&other, &fixture.path).unwrap();
    assert_eq!(store.record(arrival("job_3", "{}")).await.unwrap_err().to_string(), expected);
    drop(store);
    // The first of them may have been committed before the look at the files, and the second was not begun.
    assert!(fixture.total().await <= 3);
}
