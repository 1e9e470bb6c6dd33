use article_webhook::fixture;
use article_webhook_inbox::{
    Inbox, State,
    store::{Recorded, Store},
};

use super::{CLAIM, Fixture, arrival};

/// Durable acknowledgement: a worker that was killed had not found an article yet.
#[tokio::test]
async fn a_body_is_not_dropped_because_a_worker_was_killed_before_it_read_the_others() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for body in ["[0]", "[1]", "[2]", "[3]"] {
        store.record(arrival("job_1", body)).await.unwrap();
    }
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 1);
    drop(store);
    let store = fixture.open();
    let fifth = store.record(arrival("job_1", "[4]")).await;
    assert_eq!(fifth.unwrap(), Recorded::BodyLimitReached);
}

/// Convergence and damage containment: the other entries are worked on.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_cannot_be_read_is_corrupt_and_blocks_no_other() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let good = fixture::complete().job_id("job_2");
    store.record(arrival("job_2", good.bytes().clone())).await.unwrap();
    fixture
        .sql()
        .execute("UPDATE article_inbox_bodies SET digest = x'00' WHERE slot = 16", [])
        .unwrap();

    let inbox = Inbox::new(store.clone());
    let done = async {
        while store.counts().await.unwrap().of(State::Done) == 0 {
            tokio::task::yield_now().await;
        }
    };
    inbox.worker(|_| async { Ok(()) }).run(done).await.unwrap();
    assert_eq!(store.counts().await.unwrap().of(State::Corrupt), 1);
}

/// Fencing: the lock file excludes a second worker, also that of a tool.
#[tokio::test]
async fn a_tool_beside_the_receiver_claims_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    let tool = article_webhook_inbox::SqliteStore::open_shared(&fixture.path).unwrap();
    let error = tool.claim(CLAIM).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tool beside the receiver claims nothing: run worker and collector in the receiver's process"
    );
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 1);
}

/// Bounded resources: a batch of retention is bounded in bytes, and so is the log that it leaves.
#[tokio::test]
async fn retention_does_not_let_the_log_grow_without_limit() {
    use std::time::Duration;

    use article_webhook_inbox::{Prune, store::Outcome};

    let fixture = Fixture::new();
    let store = fixture.open();
    for job in 0..24 {
        let body = vec![b' '; 2 << 20];
        store.record(arrival(&format!("job_{job}"), body)).await.unwrap();
    }
    let claim = article_webhook_inbox::store::Claim { limit: 24, ..CLAIM };
    for claimed in store.claim(claim).await.unwrap().claimed {
        store.settle(claimed.lease, Outcome::Done).await.unwrap();
    }
    fixture.clock.advance(Duration::from_secs(8 * 24 * 3600));
    let now = store.now();
    let (bodies_before, entries_before) = (now, now - Duration::from_secs(30 * 24 * 3600));
    let prune = Prune { bodies_before, entries_before, limit: 500, ..Prune::default() };
    let (mut batches, mut bodies) = (0, 0);
    loop {
        let pruned = store.prune(prune).await.unwrap();
        (batches, bodies) = (batches + 1, bodies + pruned.bodies);
        if !pruned.more {
            break;
        }
    }
    assert_eq!(bodies, 24);
    assert!(batches >= 6, "{batches} batches of at most 8 MiB");
    let log = fixture.beside("-wal").metadata().unwrap().len();
    assert!(log <= 64 << 20, "{log} bytes of log");
}
