//! The ledger in the file: earlier versions, the clock, and what erasing leaves.

use std::{fs, time::Duration};

use article_webhook_inbox::{
    Clock, ClockStep, IntentState, JobFilter, JobState, Missing, PauseReason, Reason,
    SqliteSettings, SqliteStore, State,
    store::{
        AskClaim, AskLease, AskOutcome, AskSettled, BucketEvent, BucketSettings, Expect, Intended,
        Ledger, Recorded, Store, to_millis,
    },
};
use rusqlite::params;

use super::{CLAIM, Place, arrival, damage::checked, migration::first_version, within};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
pub(super) const BUCKET: BucketSettings = BucketSettings { per_minute: 600, burst: 100, key: 7 };
pub(super) const ASKS: AskClaim = AskClaim { limit: 100, lease: MINUTE, bucket: BUCKET };

pub(super) fn job(id: &str) -> article_webhook::JobId {
    id.parse().unwrap()
}

/// Jobs that are due now.
pub(super) async fn expect(store: &SqliteStore, ids: &[&str]) {
    let jobs = ids.iter().map(|id| Expect::job(job(id), store.now())).collect();
    store.expect(jobs).await.unwrap();
}

/// A file with the tables of the second version, and no checksums: with an entry in each state, and with jobs whose delivery was refused.
fn second_version(place: &Place, refused: &[(&str, Duration, &str)]) {
    first_version(place);
    let sql = place.sql();
    sql.execute_batch(include_str!("schema_2.sql")).unwrap();
    for (job_id, ago, code) in refused {
        sql.execute(
            "INSERT INTO article_inbox_hints VALUES (?1, ?2, ?3)",
            params![job_id, to_millis(place.clock.now() - *ago), code],
        )
        .unwrap();
    }
}

#[tokio::test]
async fn what_the_second_version_knew_to_be_missing_is_expected() {
    let place = Place::new();
    let refused = [
        ("job_new", 100 * MINUTE, "too_large"),
        ("done", 3 * MINUTE, "unavailable"),
        ("corrupt", 2 * MINUTE, "malformed_json"),
        ("job_late", MINUTE, "malformed_json"),
    ];
    second_version(&place, &refused);
    // A row that cannot be read stops no start, and is told.
    place.damage("INSERT INTO article_inbox_hints VALUES (CAST(x'ff' AS TEXT), 5, 'too_large')");
    let store = place.open();
    let now = store.now();
    let jobs = store.jobs(JobFilter::default()).await.unwrap().items;
    let shown: Vec<_> = jobs.iter().map(|job| (job.job_id.as_str(), job.state, job.at)).collect();
    let asked = |ago: Duration| now - ago + Duration::from_secs(400);
    assert_eq!(
        shown,
        [
            ("job_new", JobState::Expected, asked(100 * MINUTE)),
            ("done", JobState::Arrived, now),
            ("corrupt", JobState::Expected, asked(2 * MINUTE)),
            ("job_late", JobState::Expected, asked(MINUTE)),
        ]
    );
    for (job, (_, _, code)) in jobs.iter().zip(refused) {
        assert_eq!(job.reason, Reason::Refused { code: code.into() });
    }
    let damaged = "1 jobs with a refused delivery could not be read, and are not expected";
    assert_eq!(store.health().await.unwrap().findings, [damaged]);

    // It happens once.
    assert!(store.forget(job("job_late")).await.is_ok());
    let gone = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'article_inbox_hints%'";
    assert_eq!(place.sql().query_row(gone, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    drop(store);
    assert_eq!(place.open().jobs(JobFilter::default()).await.unwrap().items.len(), 3);
}

/// `version_2.db` was written by the last program of that version: entries with checksums in most states, one of them under
/// a lease, and three jobs with a refused delivery.
#[tokio::test]
async fn a_file_that_the_version_before_made_is_brought_up_to_date() {
    let place = Place::new();
    fs::write(&place.path, include_bytes!("version_2.db")).unwrap();
    let store = place.open();
    assert_eq!(checked(&store).await, [""; 0]);
    assert_eq!(store.health().await.unwrap().findings, [""; 0]);
    let counts = store.counts().await.unwrap();
    for (state, count) in
        [(State::Done, 1), (State::Dead, 1), (State::Unhandled, 1), (State::Waiting, 3)]
    {
        assert_eq!(counts.of(state), count, "{state}");
    }
    let jobs = store.jobs(JobFilter::default()).await.unwrap().items;
    let mut shown: Vec<_> = jobs.iter().map(|job| (job.job_id.as_str(), job.state)).collect();
    shown.sort_unstable_by_key(|(job, _)| *job);
    assert_eq!(
        shown,
        [
            ("done", JobState::Arrived),
            ("job_new", JobState::Expected),
            ("unhandled", JobState::Expected),
        ]
    );
    assert_eq!(store.record(arrival("done", "{}")).await.unwrap(), Recorded::Duplicate);
    // The lease of the process that ended is free.
    let claimed = store.claim(CLAIM).await.unwrap().claimed;
    assert!(claimed.iter().any(|claimed| claimed.key.job_id.as_str() == "leased"), "{claimed:?}");
    drop(store);
    assert_eq!(checked(&place.open()).await, [""; 0]);
}

#[tokio::test]
async fn a_file_of_the_second_version_goes_on_as_before() {
    let place = Place::new();
    second_version(&place, &[]);
    let store = place.open();
    let corrupt = "entry 6, corrupt (article.complete), is corrupt, damaged: deliver or collect the job again";
    assert_eq!(checked(&store).await, [corrupt]);
    assert_eq!(store.record(arrival("done", "{}")).await.unwrap(), Recorded::Duplicate);
    assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
    assert_eq!(store.ledger_counts().await.unwrap().open(), 0);
}

#[tokio::test]
async fn a_start_frees_the_asks_of_the_last_process() {
    let place = Place::new();
    let store = place.open();
    expect(&store, &["job_1", "job_2"]).await;
    let asked = store.claim_asks(AskClaim { limit: 1, ..ASKS }).await.unwrap().asks.remove(0);
    drop(store);
    let store = place.open();
    let settled = store.settle_ask(asked.lease, AskOutcome::Released, 1).await.unwrap();
    assert_eq!(settled, AskSettled::LostLease);
    let again = store.claim_asks(ASKS).await.unwrap().asks;
    assert_eq!(again.len(), 2, "both are due at once");
    let of_asked = again.iter().find(|ask| ask.lease.id == asked.lease.id).unwrap();
    assert!(of_asked.lease.fence > asked.lease.fence);
}

#[tokio::test]
async fn a_start_after_the_clock_was_set_back_waits_for_nothing_longer() {
    let place = Place::new();
    let ahead = Clock::stepped(place.clock.now() + 1000 * HOUR);
    let settings = SqliteSettings::default().clock(ahead.clone());
    let store = SqliteStore::open_with(&place.path, settings).unwrap();
    let at = ahead.now() + 20 * HOUR;
    store.expect(vec![Expect::job(job("job_1"), at)]).await.unwrap();
    expect(&store, &["job_missing"]).await;
    let lease = store.claim_asks(ASKS).await.unwrap().asks.remove(0).lease;
    let missing = AskOutcome::Missing { after: HOUR, cause: "job_not_found".into() };
    store.settle_ask(lease, missing, 1).await.unwrap();
    store.intend("post-17", MINUTE, BUCKET).await.unwrap();
    let limited = BucketEvent::RateLimited { retry_after: 2 * HOUR };
    store.report(limited).await.unwrap();
    drop(store);

    let store = place.open();
    let (now, found) = (store.now(), store.job(job("job_1")).await.unwrap().unwrap());
    assert_eq!((found.at, found.expected_at), (now + 25 * HOUR, now));
    let pause = store.bucket().await.unwrap().paused(BUCKET.key, store.now()).unwrap();
    assert_eq!((pause.until, pause.why), (now + 2 * HOUR, PauseReason::RateLimited));
    assert!(store.bucket().await.unwrap().refilled_at <= now);
    let missing = store.job(job("job_missing")).await.unwrap().unwrap().missing;
    assert_eq!(missing, Some(Missing { times: 1, since: now }));

    let state = async || store.intent("post-17").await.unwrap().unwrap().state;
    assert_eq!(state().await, IntentState::Ordering);
    place.clock.advance(2 * HOUR);
    assert_eq!(state().await, IntentState::Unknown, "its process has ended long ago");
}

/// The clock is set by a day while the store is open.
#[tokio::test]
async fn the_ledger_follows_a_clock_that_is_set() {
    for step in [ClockStep::Forward(24 * HOUR), ClockStep::Back(24 * HOUR)] {
        let place = Place::new();
        let store = place.open();
        let before = store.now();
        expect(&store, &["job_asked"]).await;
        let asked = store.claim_asks(ASKS).await.unwrap().asks.remove(0).lease;
        store.expect(vec![Expect::job(job("job_waits"), before + HOUR)]).await.unwrap();
        let Intended::Begun(lease) = store.intend("post-17", MINUTE, BUCKET).await.unwrap() else {
            panic!("it is new")
        };
        store.report(BucketEvent::KeyRefused { key: BUCKET.key }).await.unwrap();
        let paused =
            async || store.bucket().await.unwrap().paused(BUCKET.key, store.now()).unwrap();
        let moved = |time| match step {
            ClockStep::Forward(by) => time + by,
            ClockStep::Back(by) => time - by,
        };
        let until = paused().await.until;

        place.clock.set(step);
        within(10, async || store.now() == moved(before)).await;
        let waits = store.job(job("job_waits")).await.unwrap().unwrap();
        assert_eq!((waits.at, waits.expected_at), (moved(before + HOUR), moved(before)));
        assert_eq!(paused().await.until, moved(until));
        assert!(store.not_ordered(lease).await.unwrap(), "its deadline has moved along");
        let settled = store.settle_ask(asked, AskOutcome::Released, 1).await.unwrap();
        assert_eq!(settled, AskSettled::Settled(JobState::Expected), "the lease still holds");
    }
}

#[tokio::test]
async fn a_tool_beside_the_receiver_orders_and_does_not_ask() {
    let place = Place::new();
    let store = place.open();
    let tool = SqliteStore::open_shared(&place.path).unwrap();
    expect(&tool, &["job_1"]).await;
    let error = tool.claim_asks(ASKS).await.unwrap_err();
    let says = "a tool beside the receiver has no collector: run it in the receiver's process";
    assert_eq!(error.to_string(), says);
    assert_eq!(store.claim_asks(ASKS).await.unwrap().asks.len(), 1);
}

#[tokio::test]
async fn a_claim_whose_caller_is_gone_asks_for_nothing() {
    let place = Place::new();
    let store = place.open();
    expect(&store, &["job_1"]).await;
    let mut claim = store.claim_asks(ASKS);
    // Begun, and dropped before its answer is received.
    let pending = std::future::poll_fn(|context| {
        std::task::Poll::Ready(claim.as_mut().poll(context).is_pending())
    });
    assert!(pending.await);
    drop(claim);
    within(10, async || {
        let found = store.job(job("job_1")).await.unwrap().unwrap();
        found.state == JobState::Expected
            && found.asks == 0
            && !store.bucket().await.unwrap().turn.eq(&0)
    })
    .await;
    assert_eq!(store.claim_asks(ASKS).await.unwrap().asks.len(), 1);
}

#[tokio::test]
async fn nothing_of_a_forgotten_job_is_in_a_file() {
    let place = Place::new();
    let store = place.open();
    let id = "job_that_is_forgotten";
    let Intended::Begun(_) = store.intend("post-17", MINUTE, BUCKET).await.unwrap() else {
        panic!("it is new")
    };
    store.ordered("post-17", job(id), store.now(), 1).await.unwrap();
    let lease = store.claim_asks(ASKS).await.unwrap().asks[0].lease;
    let cause = format!("{id} is not known");
    store.settle_ask(lease, AskOutcome::NotFound { cause }, 1).await.unwrap();
    expect(&store, &[id, "job_2"]).await;
    assert_eq!(store.forget(job(id)).await.unwrap(), 0);
    assert_eq!(store.intent("post-17").await.unwrap().unwrap().job_id, None);
    for file in [place.path.clone(), place.beside("-wal")] {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let found = bytes.windows(id.len()).any(|part| part == id.as_bytes());
        assert!(!found, "{}", file.display());
    }
    let lost =
        store.settle_ask(AskLease { fence: 2, ..lease }, AskOutcome::Released, 1).await.unwrap();
    assert_eq!(lost, AskSettled::LostLease);
}
