//! Files of earlier versions.

use article_webhook_inbox::{
    Digest, Entry, Filter, State,
    store::{Outcome, Recorded, Settled, Store, from_millis, to_millis},
};
use rusqlite::params;

use super::{CLAIM, Place, arrival, claimed, damage::checked, key, within};

const BODY: &str = "{}";

/// A file of the first version with an entry in each state, whose times are one second apart.
pub(super) fn first_version(place: &Place) {
    let sql = place.sql();
    sql.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL").unwrap();
    // Its text must be what that version left in the file, and an indented one differs.
    let schema = include_str!("schema_1.sql").replace('\n', "\n    ");
    sql.execute_batch(&schema).unwrap();
    for (id, state) in (1..).zip(State::ALL) {
        let received_at = to_millis(place.clock.now()) - 60_000;
        let cause = (state == State::Dead).then_some("no network");
        sql.execute(
            "INSERT INTO article_inbox_entries VALUES (?1, ?2, 'article.complete', ?2, 1, 1, ?3, ?4, 0, 1, ?5)",
            params![id, state.as_str(), received_at + 1000 * id, received_at, cause],
        )
        .unwrap();
        sql.execute(
            "INSERT INTO article_inbox_bodies VALUES (?1, ?2, 'webhook', 'blog', NULL, ?3, ?4)",
            params![
                id * 16,
                received_at,
                &Digest::of(BODY.as_bytes()).as_bytes()[..],
                BODY.as_bytes()
            ],
        )
        .unwrap();
    }
}

async fn entry(store: &dyn Store, job_id: &str) -> Entry {
    store.show(key(job_id)).await.unwrap().unwrap().0
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_date() {
    let place = Place::new();
    first_version(&place);
    let store = place.open();
    let corrupt = "entry 6, corrupt (article.complete), is corrupt, damaged: deliver or collect the job again";
    assert_eq!(checked(&store).await, [corrupt]);
    let received_at = to_millis(place.clock.now()) - 60_000;
    for (id, state) in (1..).zip(State::ALL) {
        let shown = entry(&store, state.as_str()).await;
        let (expected, at, since) = match state {
            State::Waiting => (State::Waiting, received_at + 1000 * id, received_at),
            // The process that held it has ended.
            State::Leased => (State::Waiting, received_at + 60_000, received_at + 60_000),
            _ => (state, received_at + 1000 * id, received_at + 1000 * id),
        };
        assert_eq!((shown.state, &*shown.target), (expected, "blog"), "{state}");
        assert_eq!((shown.at, shown.since), (from_millis(at), from_millis(since)), "{state}");
        // What was interrupted is recorded when its lease is freed.
        assert_eq!(shown.failures.len(), usize::from(state == State::Leased), "{state}");
        assert_eq!(shown.cause.is_some(), state == State::Dead, "{state}");
    }
    let schema = "SELECT value FROM article_inbox_meta WHERE name = 'schema'";
    let schema: i64 = place.sql().query_row(schema, [], |row| row.get(0)).unwrap();
    assert_eq!(schema, 3);
}

#[tokio::test]
async fn entries_of_the_first_version_go_on_as_before() {
    let place = Place::new();
    first_version(&place);
    let store = place.open();
    for state in State::ALL {
        let expected = match state {
            State::Corrupt => Recorded::Stored,
            _ => Recorded::Duplicate,
        };
        assert_eq!(store.record(arrival(state.as_str(), BODY)).await.unwrap(), expected, "{state}");
    }
    assert!(store.requeue(key("dead"), None).await.unwrap());
    assert!(store.bury(key("unhandled"), "not wanted".into()).await.unwrap());
    for entry in ["waiting", "leased", "dead", "corrupt"] {
        let claim = article_webhook_inbox::store::Claim { limit: 1, ..CLAIM };
        let claimed = store.claim(claim).await.unwrap().claimed.remove(0);
        assert_eq!(claimed.bodies[0].bytes.as_deref(), Some(BODY.as_bytes()));
        let settled = store.settle(claimed.lease, Outcome::Done).await.unwrap();
        assert_eq!(settled, Settled::Settled, "{entry}");
    }
    assert_eq!(store.counts().await.unwrap().of(State::Done), 5);
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn a_row_that_is_written_gets_a_checksum_and_a_completed_one_has_none() {
    let place = Place::new();
    let checksums = "SELECT count(checksum), sum(checksum) FROM article_inbox_entries";
    let read = |sql: &rusqlite::Connection| {
        sql.query_row(checksums, [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?))
        })
        .unwrap()
    };
    first_version(&place);
    assert!(place.sql().prepare(checksums).is_err());

    let place = Place::new();
    let store = place.open();
    store.record(arrival("job_1", BODY)).await.unwrap();
    let recorded = read(&place.sql());
    let lease = claimed(&store).await.lease;
    let leased = read(&place.sql());
    assert_eq!((recorded.0, leased.0), (1, 1));
    assert_ne!(recorded, leased);

    let completion = store.completion(lease).unwrap();
    let sql = place.sql();
    sql.execute(completion.sql(), rusqlite::params_from_iter(completion.parameters())).unwrap();
    assert_eq!(read(&sql), (0, None));
    assert_eq!(entry(&store, "job_1").await.state, State::Done);
}

/// The next version of the schema waits with the log.
#[tokio::test]
async fn a_read_before_the_file_is_brought_up_to_date_says_so() {
    let place = Place::new();
    first_version(&place);
    let sql = place.sql();
    sql.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").unwrap();
    place
        .sql()
        .execute_batch("UPDATE article_inbox_meta SET value = 7 WHERE name = 'probes'")
        .unwrap();
    let crashed = place.after_a_kill();
    let reader = crashed.sql();
    reader.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").unwrap();
    let store = crashed.open();
    assert!(store.health().await.unwrap().blocked.is_some());
    let says = format!(
        "{} has schema 1, and this version needs 3: start the receiver once, which brings it up to date",
        crashed.shown()
    );
    assert_eq!(store.list(Filter::default()).await.unwrap_err().to_string(), says);
    assert_eq!(store.counts().await.unwrap().total(), 6);
    drop(reader);
    within(2, async || store.list(Filter::default()).await.is_ok()).await;
}
