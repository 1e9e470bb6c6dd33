use std::{
    future::poll_fn,
    task::Poll,
    time::{Duration, Instant},
};

use article_webhook_inbox::store::{Pending, Recorded, Store};

use super::{Fixture, arrival};

/// Begins a call. From then on it waits for the writer.
async fn is_pending<T>(call: &mut Pending<'_, T>) -> bool {
    poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await
}

#[tokio::test]
async fn a_call_waits_two_seconds_for_a_locked_file_and_a_later_one_succeeds() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let other = fixture.sql();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    let error = store.record(arrival("job_1", "{}")).await.unwrap_err();
    assert_eq!(error.to_string(), "the database is locked by another program");
    assert!(error.is_transient());
    let waited = start.elapsed();
    assert!(waited >= Duration::from_millis(1900) && waited < Duration::from_secs(4), "{waited:?}");
    // Readers are not blocked.
    assert_eq!(store.counts().await.unwrap().total(), 0);

    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Stored);
    store.probe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_finishes_what_waits() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let other = fixture.sql();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut call = store.record(arrival("job_1", "{}"));
    assert!(is_pending(&mut call).await);
    let (closed, ()) =
        tokio::join!(store.close(), async { other.execute_batch("COMMIT").unwrap() });
    closed.unwrap();
    assert_eq!(call.await.unwrap(), Recorded::Stored);
    assert_eq!(fixture.open().counts().await.unwrap().total(), 1);
}

#[tokio::test]
async fn the_log_does_not_grow_with_what_is_stored() {
    const MIB: usize = 1 << 20;
    let fixture = Fixture::new();
    let store = fixture.open();
    let body = bytes::Bytes::from(vec![b'a'; 8 * MIB]);
    for number in 0..10 {
        store.record(arrival(&format!("job_{number}"), body.clone())).await.unwrap();
    }
    // The last answer comes before the checkpoint, and this answer after it.
    store.probe().await.unwrap();
    let log = fixture.beside("-wal").metadata().unwrap().len();
    assert!(log < 48 * MIB as u64, "{log}");
    let file = fixture.path.metadata().unwrap().len();
    assert!(file > 40 * MIB as u64, "{file}, log {log}");
}
