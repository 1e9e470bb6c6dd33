//! Leases of claims that the database has lost, because a standby lacked them when it took over, or a backup was restored; and those
//! that an application has completed meanwhile.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    JobState, State,
    store::{BucketSettings, Expect, Outcome, PollClaim, PollOutcome, PollSettled, Settled, Store},
};

use crate::{
    CLAIM, Scene, arrival,
    scene::{self, wait},
};

const BUCKET: BucketSettings = BucketSettings { per_minute: 600, burst: 100, key: 1 };

#[test]
fn a_lease_that_was_lost_with_its_claim_completes_nothing() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async move {
        store.record(arrival("job_1", "{}")).await.unwrap();
        let due = Expect::job("job_2".parse().unwrap(), SystemTime::UNIX_EPOCH);
        store.expect(vec![due]).await.unwrap();
        let claim = PollClaim { limit: 10, lease: Duration::from_secs(60), bucket: BUCKET };
        let application = scene.client().await;
        let keep = "CREATE TABLE entries AS TABLE article_inbox_entries; CREATE TABLE jobs AS TABLE article_inbox_jobs";
        application.batch_execute(keep).await.unwrap();
        let lost = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let lost_poll = store.claim_polls(claim).await.unwrap().polls[0].lease;
        let lose = "UPDATE article_inbox_entries e SET state = k.state, attempts = k.attempts, fence = k.fence, at = k.at \
            FROM entries k WHERE e.id = k.id; \
            UPDATE article_inbox_jobs j SET state = k.state, polls = k.polls, fence = k.fence, at = k.at \
            FROM jobs k WHERE j.id = k.id";
        application.batch_execute(lose).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let poll = store.claim_polls(claim).await.unwrap().polls[0].lease;

        let completion = store.completion(lost).unwrap();
        assert_eq!(scene::complete(&application, &completion).await.unwrap(), 0);
        assert_eq!(store.settle(lost, Outcome::Done).await.unwrap(), Settled::LostLease);
        assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled);
        let released = |lease| store.settle_poll(lease, PollOutcome::Released, 1);
        assert_eq!(released(lost_poll).await.unwrap(), PollSettled::LostLease);
        assert_eq!(released(poll).await.unwrap(), PollSettled::Settled(JobState::Expected));
    });
}

/// The application's transaction ends between the moment in which a worker reads the entry and that in which it writes it.
#[test]
fn an_outcome_that_waited_for_the_application_does_not_undo_its_completion() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async move {
        store.record(arrival("job_1", "{}")).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let application = scene.client().await;
        application.batch_execute("BEGIN").await.unwrap();
        let completion = store.completion(lease).unwrap();
        assert_eq!(scene::complete(&application, &completion).await.unwrap(), 1);
        let settling = {
            let store = store.clone();
            let retry = Outcome::Retry { after: Duration::ZERO, cause: "late".into() };
            tokio::spawn(async move { store.settle(lease, retry).await })
        };
        let waits = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' AND pid IN \
            (SELECT pid FROM pg_locks WHERE relation = 'article_inbox_entries'::regclass)";
        let other = scene.client().await;
        while other.query(waits, &[]).await.unwrap().is_empty() {}
        application.batch_execute("COMMIT").await.unwrap();
        assert_eq!(settling.await.unwrap().unwrap(), Settled::AlreadyDone);
        assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
    });
}
