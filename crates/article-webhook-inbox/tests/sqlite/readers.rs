//! Programs that read for long: they delay nothing, and where they must be waited for, the store says so and goes on
//! by itself.

use article_webhook_inbox::{
    SqliteStore,
    store::{Recorded, Store},
};

use super::{CLAIM, Fixture, arrival, reader, record, within};

#[tokio::test]
async fn after_an_orderly_stop_a_reader_hinders_no_start() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    for start in 1..4 {
        let reader = reader(&fixture);
        // After the snapshot of the reader, so that the log cannot be emptied at the end.
        let store = if start == 1 { store.clone() } else { fixture.open() };
        record(&store, start..start + 1).await;
        store.close().await.unwrap();
        assert!(fixture.beside("-wal").metadata().unwrap().len() > 0);
        let store = fixture.open();
        assert_eq!(blocked(&store).await, None);
        let job = format!("next_{start}");
        assert_eq!(store.record(arrival(&job, "{}")).await.unwrap(), Recorded::Stored);
        drop(store);
        drop(reader);
    }
    assert_eq!(fixture.total().await, 7);
}

async fn blocked(store: &SqliteStore) -> Option<String> {
    store.health().await.unwrap().blocked.map(|why| why.to_string())
}

fn blocked_by_a_reader(fixture: &Fixture) -> String {
    format!(
        "another program reads the log {}-wal from before the crash or the failed sync: end it, and the store goes on \
         by itself",
        fixture.shown()
    )
}

/// Durable acknowledgement: a commit after an unsynced part of the log could be lost with it.
#[tokio::test]
async fn after_a_crash_the_store_waits_for_a_reader_and_goes_on_by_itself() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3);
    let fixture = fixture.after_a_kill();
    let reader = reader(&fixture);

    let store = fixture.open();
    let error = store.record(arrival("job_3", "{}")).await.unwrap_err();
    assert!(error.is_transient());
    assert_eq!(error.to_string(), blocked_by_a_reader(&fixture));
    assert_eq!(blocked(&store).await, Some(blocked_by_a_reader(&fixture)));
    assert_eq!(store.counts().await.unwrap().total(), 3);
    drop(reader);

    within(2, async || store.health().await.unwrap().blocked.is_none()).await;
    assert_eq!(store.counts().await.unwrap().of(article_webhook_inbox::State::Leased), 0);
    record(&store, 3..4).await;
    drop(store);
    assert_eq!(fixture.total().await, 4);
}

/// What another program commits after the mark of an orderly stop may not be on disk.
#[tokio::test]
async fn a_commit_after_an_orderly_stop_takes_the_trust_away() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    let reader = reader(&fixture);
    record(&store, 1..2).await;
    drop(store);
    fixture.sql().execute("UPDATE article_inbox_entries SET target = 'x'", []).unwrap();

    let store = fixture.open();
    assert_eq!(blocked(&store).await, Some(blocked_by_a_reader(&fixture)));
    drop(reader);
    within(2, async || store.health().await.unwrap().blocked.is_none()).await;
}

/// Does to a database what Litestream does by its documentation: it has a table of its own, lets nobody else restart a log by reading
/// without an end, and moves the log into the database itself from time to time.
struct Replication(rusqlite::Connection);

impl Replication {
    fn begin(fixture: &Fixture) -> Self {
        let sql = fixture.sql();
        let begin =
            "PRAGMA wal_autocheckpoint = 0; CREATE TABLE IF NOT EXISTS sequence (seq INTEGER);
                     INSERT INTO sequence VALUES (1); BEGIN; SELECT * FROM sequence";
        sql.execute_batch(begin).unwrap();
        Self(sql)
    }

    fn checkpoint(&self) {
        let moves = "ROLLBACK; UPDATE sequence SET seq = seq + 1; PRAGMA wal_checkpoint(PASSIVE);
                     BEGIN; SELECT * FROM sequence";
        self.0.execute_batch(moves).unwrap();
    }
}

#[tokio::test]
async fn a_program_that_replicates_the_log_costs_no_delivery_and_no_start() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let replication = Replication::begin(&fixture);
    for round in 0..5 {
        record(&store, round * 10..round * 10 + 10).await;
        replication.checkpoint();
    }
    assert_eq!(blocked(&store).await, None);
    store.close().await.unwrap();
    assert_eq!(fixture.total().await, 50);
}

#[tokio::test]
async fn after_a_crash_the_store_waits_for_such_a_program_until_it_has_moved_the_log() {
    let fixture = Fixture::new();
    let store = fixture.open();
    drop(Replication::begin(&fixture));
    record(&store, 0..3).await;
    let fixture = fixture.after_a_kill();
    let replication = Replication::begin(&fixture);

    let store = fixture.open();
    let error = store.record(arrival("job_3", "{}")).await.unwrap_err();
    assert_eq!(error.to_string(), blocked_by_a_reader(&fixture));
    replication.checkpoint();
    within(5, async || store.health().await.unwrap().blocked.is_none()).await;
    record(&store, 3..4).await;
}
