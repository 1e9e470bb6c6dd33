//! A clock that is set: between two runs, while the store is open, and before retention.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Clock, ClockStep, Inbox, Retention, SqliteStore, State,
    store::{Outcome, Recorded, Settled, Store},
};

use super::{CLAIM, Place, START, arrival, key, within};

const HOUR: Duration = Duration::from_secs(3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
const PAUSE: Duration = Duration::from_secs(30);

fn at(since_start: Duration) -> Clock {
    Clock::stepped(SystemTime::UNIX_EPOCH + START + since_start)
}

/// A place whose clock starts anew, as that of another process.
fn with_clock(place: Place, clock: Clock) -> Place {
    Place { clock, ..place }
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

/// Waits until the store has followed a clock that was set.
async fn followed(store: &SqliteStore, expected: SystemTime) {
    within(10, async || store.now() == expected).await;
}

#[tokio::test]
async fn a_clock_that_was_set_back_between_two_runs_delays_nothing() {
    let place = with_clock(Place::new(), at(10 * HOUR));
    let store = place.open();
    failed(&store, "job_failed").await;
    store.record(arrival("job_new", "{}")).await.unwrap();
    store.close().await.unwrap();

    let place = with_clock(place, at(Duration::ZERO));
    let store = place.open();
    assert_eq!(claimed(&store).await, ["job_new"], "it is due at once");
    place.clock.advance(PAUSE);
    assert_eq!(claimed(&store).await, ["job_failed"], "its pause began anew");
    let health = store.health().await.unwrap();
    assert_eq!(health.clock_step, Some(ClockStep::Back(10 * HOUR)));
}

#[tokio::test]
async fn a_clock_that_is_set_while_the_store_is_open_ends_no_lease_and_delays_no_attempt() {
    for (step, then) in
        [(ClockStep::Forward(8 * HOUR), 18 * HOUR), (ClockStep::Back(8 * HOUR), 2 * HOUR)]
    {
        let place = with_clock(Place::new(), at(10 * HOUR));
        let store = place.open();
        failed(&store, "job_failed").await;
        store.record(arrival("job_leased", "{}")).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;

        place.clock.set(step);
        followed(&store, at(then).now()).await;
        assert_eq!(store.health().await.unwrap().clock_step, Some(step));
        store.record(arrival("job_new", "{}")).await.unwrap();
        assert_eq!(claimed(&store).await, ["job_new"]);

        place.clock.advance(PAUSE);
        assert_eq!(claimed(&store).await, ["job_failed"], "{step}");
        assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled, "{step}");
        assert_eq!(store.check().await.unwrap(), [], "{step}");
    }
}

#[tokio::test]
async fn what_was_due_stays_due_in_its_order_when_the_clock_is_set_back() {
    let place = with_clock(Place::new(), at(10 * HOUR));
    let store = place.open();
    for job in ["job_b", "job_a", "job_c"] {
        store.record(arrival(job, "{}")).await.unwrap();
        place.clock.advance(Duration::from_secs(1));
    }
    place.clock.set(ClockStep::Back(9 * HOUR));
    followed(&store, at(HOUR + Duration::from_secs(3)).now()).await;
    assert_eq!(claimed(&store).await, ["job_b", "job_a", "job_c"]);
}

/// The receiver started with the wrong time, and NTP has corrected it since.
#[tokio::test]
async fn what_a_tool_requeues_is_due_at_once_in_a_receiver_that_started_before_ntp() {
    let place = with_clock(Place::new(), Clock::stepped(SystemTime::now() - 10 * HOUR));
    let store = place.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.settle(lease, Outcome::Dead { cause: "no".into() }).await.unwrap();

    place.clock.set(ClockStep::Forward(10 * HOUR));
    within(10, async || store.health().await.unwrap().clock_step.is_some()).await;
    let tool = SqliteStore::open_shared(&place.path).unwrap();
    assert!(tool.requeue(key("job_1"), None).await.unwrap());
    // The time that this test has taken.
    place.clock.advance(Duration::from_secs(20));
    assert_eq!(claimed(&store).await, ["job_1"]);
}

/// A place with an entry that was done a moment ago.
async fn just_done() -> Place {
    let place = with_clock(Place::new(), at(Duration::ZERO));
    let store = place.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.settle(lease, Outcome::Done).await.unwrap();
    store.close().await.unwrap();
    place
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
async fn a_start_a_year_ahead_removes_nothing() {
    let mut place = just_done().await;
    // The second start must not take the time of the first for granted.
    for start in [YEAR, YEAR + HOUR] {
        place = with_clock(place, at(start));
        let store = place.open();
        assert_eq!(after_retention(&store).await, 1);
        place.clock.advance(HOUR - Duration::from_secs(1));
        assert_eq!(after_retention(&store).await, 1);
        assert!(matches!(store.health().await.unwrap().clock_step, Some(ClockStep::Forward(_))));
        store.close().await.unwrap();
    }

    place = with_clock(place, at(HOUR / 2));
    let store = place.open();
    assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Duplicate);
    assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
}

#[tokio::test]
async fn retention_begins_an_hour_after_a_step_and_otherwise_after_ten_minutes() {
    for (start, until) in [(YEAR, HOUR), (2 * HOUR, Duration::from_secs(600))] {
        let place = with_clock(just_done().await, at(start));
        let store = place.open();
        place.clock.advance(until - Duration::from_millis(1));
        assert_eq!(after_retention(&store).await, 1);
        place.clock.advance(Duration::from_millis(1));
        assert_eq!(after_retention(&store).await, 0);
    }
}
