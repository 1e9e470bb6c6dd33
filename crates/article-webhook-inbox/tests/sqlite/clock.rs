//! A clock that is set: between two runs, while the store is open, and before retention.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Clock, Inbox, Retention, SqliteStore, State,
    store::{Outcome, Recorded, Settled, Store},
};

use super::{CLAIM, Fixture, START, arrival};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const PAUSE: Duration = Duration::from_secs(30);

fn at(since_start: Duration) -> Clock {
    Clock::stepped(SystemTime::UNIX_EPOCH + START + since_start)
}

/// A fixture whose clock starts again, as that of another process.
fn with_clock(fixture: Fixture, clock: Clock) -> Fixture {
    Fixture { clock, ..fixture }
}

async fn claimed(store: &SqliteStore) -> Vec<String> {
    let claims = store.claim(CLAIM).await.unwrap();
    claims.claimed.iter().map(|claimed| claimed.key.job_id.as_str().to_owned()).collect()
}

/// Stores a job, and lets its first attempt fail.
async fn failed(store: &SqliteStore, job: &str) {
    store.record(arrival(job, "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    let retry = Outcome::Retry { after: PAUSE, cause: "no network".into() };
    assert_eq!(store.settle(lease, retry).await.unwrap(), Settled::Settled);
}

#[tokio::test]
async fn a_clock_that_was_set_back_between_two_runs_delays_no_attempt() {
    let fixture = with_clock(Fixture::new(), at(10 * HOUR));
    let store = fixture.open();
    failed(&store, "job_failed").await;
    store.close().await.unwrap();

    let fixture = with_clock(fixture, at(Duration::ZERO));
    let store = fixture.open();
    fixture.clock.advance(PAUSE);
    assert_eq!(claimed(&store).await, ["job_failed"]);
}

#[tokio::test]
async fn a_clock_that_is_set_back_while_the_store_is_open_delays_no_attempt() {
    let fixture = with_clock(Fixture::new(), at(10 * HOUR));
    let store = fixture.open();
    failed(&store, "job_failed").await;
    store.record(arrival("job_leased", "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.record(arrival("job_before", "{}")).await.unwrap();

    fixture.clock.set(at(2 * HOUR).now());
    store.record(arrival("job_after", "{}")).await.unwrap();
    assert_eq!(claimed(&store).await, ["job_before", "job_after"]);
    fixture.clock.advance(PAUSE);
    assert_eq!(claimed(&store).await, ["job_failed"], "its pause began again");
    assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled);
    assert_eq!(store.check().await.unwrap(), []);
}

/// NTP corrects a clock by seconds, and what waits for longer than that waits on.
#[tokio::test]
async fn a_clock_that_is_set_back_by_less_than_an_hour_shortens_no_wait() {
    let fixture = with_clock(Fixture::new(), at(10 * HOUR));
    let store = fixture.open();
    failed(&store, "job_failed").await;
    fixture.clock.set(fixture.clock.now() - HOUR / 2);
    assert_eq!(claimed(&store).await, [""; 0]);
    fixture.clock.advance(HOUR / 2 + PAUSE);
    assert_eq!(claimed(&store).await, ["job_failed"]);
}

/// Fencing: the lease has ended, and the handler that still runs can store nothing.
#[tokio::test]
async fn a_clock_that_is_set_ahead_ends_leases_and_pauses() {
    let fixture = with_clock(Fixture::new(), at(10 * HOUR));
    let store = fixture.open();
    failed(&store, "job_failed").await;
    store.record(arrival("job_leased", "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    fixture.clock.set(at(18 * HOUR).now());
    assert_eq!(claimed(&store).await, ["job_failed", "job_leased"]);
    assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::LostLease);
}

/// A fixture with an entry that was done a moment ago.
async fn just_done() -> Fixture {
    let fixture = with_clock(Fixture::new(), at(Duration::ZERO));
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.settle(lease, Outcome::Done).await.unwrap();
    store.close().await.unwrap();
    fixture
}

/// Runs a worker until its retention has had the time to remove what is old. Returns how many entries are left.
async fn after_retention(store: &SqliteStore) -> u64 {
    let inbox = Inbox::new(store.clone());
    let retention = Retention::new(HOUR, HOUR).unwrap();
    let worker = inbox.worker(|_| async { Ok(()) }).retention(retention);
    worker.run(tokio::time::sleep(Duration::from_millis(300))).await.unwrap();
    store.counts().await.unwrap().total()
}

#[tokio::test]
async fn a_start_a_week_or_more_ahead_removes_nothing_for_a_day() {
    let mut fixture = just_done().await;
    // The second start must not take the time of the first for granted.
    for start in [7 * DAY, 7 * DAY + HOUR] {
        fixture = with_clock(fixture, at(start));
        let store = fixture.open();
        assert_eq!(after_retention(&store).await, 1);
        fixture.clock.advance(DAY - Duration::from_secs(1));
        assert_eq!(after_retention(&store).await, 1);
        assert_eq!(store.health().await.unwrap().retention_from, Some(at(start + DAY).now()));
        store.close().await.unwrap();
    }

    fixture = with_clock(fixture, at(HOUR / 2));
    let store = fixture.open();
    assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Duplicate);
    assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
}

#[tokio::test]
async fn retention_begins_after_ten_minutes_or_after_a_day_if_the_clock_is_far_ahead() {
    let ten_minutes = Duration::from_secs(600);
    for (start, until) in [(7 * DAY, DAY), (2 * HOUR, ten_minutes), (7 * DAY - HOUR, ten_minutes)] {
        let fixture = with_clock(just_done().await, at(start));
        let store = fixture.open();
        fixture.clock.advance(until - Duration::from_millis(1));
        assert_eq!(after_retention(&store).await, 1);
        fixture.clock.advance(Duration::from_millis(1));
        assert_eq!(after_retention(&store).await, 0);
    }
}
