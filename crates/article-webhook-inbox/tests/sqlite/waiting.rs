//! A wait for the end of another process that ends without it. The other process is a lock, which belongs to the file that was opened.
//! The proof with processes that end is in the tests of the tool, `taking_over`.

use std::{fs::File, future::pending, time::Duration};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job, SqliteSettings, SqliteStore};

use super::Fixture;

#[tokio::test]
async fn a_wait_that_is_over_is_the_error_of_every_call() {
    let fixture = Fixture::new();
    let other = File::options().create(true).append(true).open(fixture.beside("-lock")).unwrap();
    other.lock().unwrap();
    let refused = SqliteStore::open(&fixture.path).unwrap_err().to_string();
    assert!(refused.contains("`SqliteSettings::wait_for_lock`"), "{refused}");

    let settings = SqliteSettings::default().wait_for_lock(Duration::from_millis(1));
    let inbox = Inbox::new(SqliteStore::open_with(&fixture.path, settings).unwrap());
    let error = inbox.opened().await.unwrap_err();
    assert!(!error.is_transient());
    assert_eq!(error.to_string(), refused);
    let delivery = fixture::complete().delivery().unwrap();
    assert_eq!(inbox.accept(delivery).await, Reply::Unavailable);
    let worker = inbox.worker(|_: Job| async { Ok::<(), Failed>(()) });
    for error in [
        inbox.counts().await.map(drop).unwrap_err(),
        worker.run(pending::<()>()).await.unwrap_err(),
        inbox.close().await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), refused);
    }
}
