use std::{
    future::poll_fn,
    task::Poll,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    SqliteStore, State,
    store::{Pending, Recorded, Store},
};
use tokio::task::JoinSet;

use super::{Fixture, arrival};

/// Records concurrently, so that the calls share groups.
async fn record_all(
    store: &SqliteStore,
    arrivals: impl IntoIterator<Item = article_webhook_inbox::store::Arrival>,
) -> Vec<Result<Recorded, article_webhook_inbox::Error>> {
    let mut calls = JoinSet::new();
    for (number, arrival) in arrivals.into_iter().enumerate() {
        let store = store.clone();
        calls.spawn(async move { (number, store.record(arrival).await) });
    }
    let mut all = calls.join_all().await;
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Begins a call. From then on it waits for the writer.
async fn is_pending<T>(call: &mut Pending<'_, T>) -> bool {
    poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_concurrent_equal_deliveries_one_is_stored() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let outcomes = record_all(&store, (0..200).map(|_| arrival("job_1", "{}"))).await;
    let stored = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Recorded::Stored))).count();
    let duplicate =
        outcomes.iter().filter(|outcome| matches!(outcome, Ok(Recorded::Duplicate))).count();
    assert_eq!((stored, duplicate), (1, 199));
    assert_eq!(store.counts().await.unwrap().total(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_fails_fails_alone() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let other = fixture.sql();
    other
        .execute_batch(
            "CREATE TRIGGER poison BEFORE INSERT ON article_inbox_entries WHEN NEW.job_id = 'poison' \
             BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .unwrap();
    // While the file is locked the calls wait, and all except the first go into one group.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let jobs = (0..50).map(|number| format!("job_{number}")).chain(["poison".into()]);
    let mut calls: Vec<_> = jobs.map(|job| store.record(arrival(&job, "{}"))).collect();
    for call in &mut calls {
        assert!(is_pending(call).await);
    }
    other.execute_batch("COMMIT").unwrap();
    let mut outcomes = Vec::new();
    for call in calls {
        outcomes.push(call.await);
    }

    let (poison, others) = outcomes.split_last().unwrap();
    assert!(others.iter().all(|outcome| matches!(outcome, Ok(Recorded::Stored))));
    let error = poison.as_ref().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the database refused the change by a rule of its own: look for triggers on the inbox's tables"
    );
    assert_eq!(store.counts().await.unwrap().of(State::Waiting), 50);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_large_body_passes_alone() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let outcome = store.record(arrival("job_1", vec![b'a'; 20 << 20])).await;
    assert_eq!(outcome.unwrap(), Recorded::Stored);
    assert_eq!(store.check().await.unwrap(), []);
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
