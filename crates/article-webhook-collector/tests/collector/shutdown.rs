use std::sync::Arc;

use article_webhook_inbox::{IntentState, JobState, store::Store};
use article_webhook_inbox_contract::faulty::Fault;
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, sleep, timeout},
};

use crate::{
    api::{Reply, article},
    world::{HOUR, SECOND, World, shoes},
};

#[tokio::test(start_paused = true)]
async fn a_call_that_is_under_way_may_end() {
    let (world, collector) = World::expecting(&["job_1", "job_2"]).await;
    world.clock.advance(HOUR);
    let answered = Arc::new(Notify::new());
    let until = answered.clone();
    world.api.on_poll(move |job| match job {
        "job_1" => Reply::Waits(until.clone(), 200, "", article("job_1")),
        _ => Reply::Hangs,
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(collector.run(stopped));
    sleep(SECOND).await;
    let start = Instant::now();
    stop.send(()).unwrap();
    sleep(5 * SECOND).await;
    answered.notify_one();
    running.await.unwrap().unwrap();
    assert_eq!(start.elapsed().as_secs(), 10, "the other is cancelled after the grace period");
    assert_eq!(world.state("job_1").await, JobState::Collected);
    let job = world.job("job_2").await;
    assert_eq!(job.state, JobState::Expected);
    assert_eq!(job.cause.as_deref(), Some("the collector stopped before the answer came"));
}

/// It is paid for: the process may end when `run` has ended. It does not wait for longer than the grace period.
#[tokio::test(start_paused = true)]
async fn an_order_that_is_under_way_may_end() {
    for (answered_after, ends_after) in [(5, 7), (9, 10)] {
        let world = World::new();
        let (collector, article) = (world.collector(), shoes());
        let answered = world.api.orders_wait(r#"{"job_id":"job_1"}"#);
        world.ledger.fault("Ordered", Fault::Slow(2 * SECOND));
        // Its caller does not wait for it.
        assert!(timeout(SECOND, collector.order("post-17", &article)).await.is_err());
        let start = Instant::now();
        let running = tokio::spawn(collector.run(std::future::ready(())));
        sleep(answered_after * SECOND).await;
        answered.notify_one();
        running.await.unwrap().unwrap();
        assert_eq!(start.elapsed().as_secs(), ends_after);
        let noted = if ends_after < 10 { IntentState::Ordered } else { IntentState::Ordering };
        assert_eq!(world.intent("post-17").await, Some(noted));
    }
}

#[tokio::test]
async fn nothing_is_claimed_after_the_shutdown() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.clock.advance(HOUR);
    collector.run(std::future::ready(())).await.unwrap();
    assert!(world.api.polled().is_empty());
    assert_eq!(world.job("job_1").await.state, JobState::Expected);
}

/// What a claim brings while the collector stops is given back at once: it is due now, and was not polled.
#[tokio::test(start_paused = true)]
async fn what_was_claimed_and_not_begun_is_released() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.clock.advance(HOUR);
    world.ledger.fault("PollClaim", Fault::Slow(2 * SECOND));
    collector.run(sleep(SECOND)).await.unwrap();
    assert!(world.api.polled().is_empty());
    let job = world.job("job_1").await;
    assert_eq!((job.state, job.polls, job.at), (JobState::Expected, 0, world.clock.now()));
}

/// What could not be stored is polled again, when the lease has ended.
#[tokio::test(start_paused = true)]
async fn it_does_not_wait_for_a_store_that_fails() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.clock.advance(HOUR);
    world.api.on_poll(Reply::complete);
    world.ledger.fault("SettlePoll", Fault::DOWN);
    let start = Instant::now();
    collector.clone().run(sleep(SECOND)).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 16);
    assert_eq!(world.state("job_1").await, JobState::Polling);
    world.ledger.fault("SettlePoll", Fault::Fails(1));
    world.poll_after(HOUR, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
}

#[tokio::test(start_paused = true)]
async fn it_ends_with_an_error_if_the_store_can_never_be_used() {
    let world = World::new();
    let collector = world.collector();
    let running = tokio::spawn(collector.clone().run(std::future::pending::<()>()));
    world.ledger.fault("PollClaim", Fault::Fails(10));
    sleep(60 * SECOND).await;
    assert_eq!(collector.health().await.unwrap().running, 1, "a store that is down may come back");
    world.ledger.close().await.unwrap();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the inbox is closed");
}
