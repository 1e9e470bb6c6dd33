//! The ledger in the file: the clock, and what erasing leaves.

use std::time::Duration;

use article_webhook_inbox::{
    IntentState, JobState, Missing, PauseReason, SqliteStore,
    store::{
        BucketEvent, BucketSettings, Expect, Intended, PollClaim, PollLease, PollOutcome,
        PollSettled, Store,
    },
};
use article_webhook_inbox_contract::job;

use super::{CLAIM, Fixture, record};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
pub(super) const BUCKET: BucketSettings = BucketSettings { per_minute: 600, burst: 100, key: 7 };
pub(super) const POLLS: PollClaim = PollClaim { limit: 100, lease: MINUTE, bucket: BUCKET };

/// Jobs that are due now.
pub(super) async fn expect(store: &SqliteStore, ids: &[&str]) {
    let jobs = ids.iter().map(|id| Expect::job(job(id), store.now())).collect();
    store.expect(jobs).await.unwrap();
}

#[tokio::test]
async fn a_start_frees_the_polls_of_the_last_process() {
    let fixture = Fixture::new();
    let store = fixture.open();
    expect(&store, &["job_1", "job_2"]).await;
    let polled = store.claim_polls(PollClaim { limit: 1, ..POLLS }).await.unwrap().polls.remove(0);
    drop(store);
    let store = fixture.open();
    let settled = store.settle_poll(polled.lease, PollOutcome::Released, 1).await.unwrap();
    assert_eq!(settled, PollSettled::LostLease);
    let again = store.claim_polls(POLLS).await.unwrap().polls;
    assert_eq!(again.len(), 2, "both are due at once");
    let of_polled = again.iter().find(|poll| poll.lease.id == polled.lease.id).unwrap();
    assert!(of_polled.lease.fence > polled.lease.fence);
}

/// The clock is set back between two runs, or while the store is open. A poll that is under way then keeps its lease.
#[tokio::test]
async fn the_ledger_waits_for_nothing_longer_when_the_clock_is_set_back() {
    for is_open in [false, true] {
        let fixture = Fixture::new();
        fixture.clock.advance(1000 * HOUR);
        let mut store = fixture.open();
        store.expect(vec![Expect::job(job("job_1"), store.now() + 20 * HOUR)]).await.unwrap();
        expect(&store, &["job_missing"]).await;
        let lease = store.claim_polls(POLLS).await.unwrap().polls.remove(0).lease;
        let missing = PollOutcome::Missing { after: HOUR, cause: "job_not_found".into() };
        store.settle_poll(lease, missing, 1).await.unwrap();
        expect(&store, &["job_polled"]).await;
        let polled = store.claim_polls(POLLS).await.unwrap().polls.remove(0).lease;
        store.intend("post-17", MINUTE, BUCKET.key, None).await.unwrap();
        store.report(BucketEvent::RateLimited { retry_after: 2 * HOUR }).await.unwrap();

        let back = fixture.clock.now() - 1000 * HOUR;
        if is_open {
            fixture.clock.set(back);
            store.probe().await.unwrap();
        } else {
            drop(store);
            fixture.clock.set(back);
            store = fixture.open();
        }
        let (now, found) = (store.now(), store.job(job("job_1")).await.unwrap().unwrap());
        assert_eq!((found.at, found.expected_at), (now + 25 * HOUR, now), "{is_open}");
        let pause = store.bucket().await.unwrap().paused(BUCKET.key, now).unwrap();
        assert_eq!((pause.until, pause.why), (now + 2 * HOUR, PauseReason::RateLimited));
        let missing = store.job(job("job_missing")).await.unwrap().unwrap().missing;
        assert_eq!(missing, Some(Missing::new(1, now)), "{is_open}");
        let settled = store.settle_poll(polled, PollOutcome::Released, 1).await.unwrap();
        let still_holds = settled == PollSettled::Settled(JobState::Expected);
        assert_eq!(still_holds, is_open, "{settled:?}");

        let state = async || store.intent("post-17").await.unwrap().unwrap().state;
        assert_eq!(state().await, IntentState::Ordering);
        fixture.clock.advance(2 * HOUR);
        assert_eq!(state().await, IntentState::Unknown, "its process has ended long ago");
    }
}

/// Fencing: the lock file excludes a second worker and a second collector, also those of a tool.
#[tokio::test]
async fn a_tool_beside_the_receiver_orders_and_claims_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let tool = SqliteStore::open_shared(&fixture.path).unwrap();
    expect(&tool, &["job_1"]).await;
    record(&store, 2..3).await;
    let polled = tool.claim_polls(POLLS).await.map(drop);
    let claimed = tool.claim(CLAIM).await.map(drop);
    let says = "a tool beside the receiver claims nothing: run worker and collector in the receiver's process";
    assert_eq!([polled, claimed].map(|refused| refused.unwrap_err().to_string()), [says; 2]);
    assert_eq!(store.claim_polls(POLLS).await.unwrap().polls.len(), 1);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 1);
}

#[tokio::test]
async fn nothing_of_an_erased_job_is_in_a_file() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = "job_that_is_erased";
    let Intended::Begun(_) = store.intend("post-17", MINUTE, BUCKET.key, None).await.unwrap()
    else {
        panic!("it is new")
    };
    store.ordered("post-17", job(id), store.now(), 1).await.unwrap();
    let lease = store.claim_polls(POLLS).await.unwrap().polls[0].lease;
    let cause = format!("{id} is not known");
    store.settle_poll(lease, PollOutcome::NotFound { cause }, 1).await.unwrap();
    expect(&store, &[id, "job_2"]).await;
    assert_eq!(store.erase(vec![job(id)]).await.unwrap()[0], 0);
    assert_eq!(store.intent("post-17").await.unwrap().unwrap().job_id, None);
    for file in [fixture.path.clone(), fixture.beside("-wal")] {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let found = bytes.windows(id.len()).any(|part| part == id.as_bytes());
        assert!(!found, "{}", file.display());
    }
    let lost =
        store.settle_poll(PollLease { fence: 2, ..lease }, PollOutcome::Released, 1).await.unwrap();
    assert_eq!(lost, PollSettled::LostLease);
}
