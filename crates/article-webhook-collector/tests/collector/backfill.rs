use article_webhook_inbox::{JobState, Reason};
use article_webhook_inbox_contract::faulty::Fault;

use crate::{
    api::Reply,
    world::{MINUTE, SECOND, World},
};

fn ids(count: u32) -> impl Iterator<Item = article_webhook_client::JobId> + Send {
    (0..count).map(|id| format!("old_{id}").parse().unwrap())
}

#[tokio::test]
async fn a_backfill_says_beforehand_what_it_would_do() {
    let world = World::new();
    let collector = world.builder().rate(30, 5).build().unwrap();
    world.deliver("old_0", None).await;
    world.expect(&collector, &["old_1"]).await;
    let plan = collector.plan(ids(1001)).await.unwrap();
    assert_eq!((plan.to_poll, plan.has_article, plan.given_up), (1000, 1, 0));
    assert_eq!((plan.no_trace, plan.takes), (999, 1990 * SECOND));
    assert_eq!(collector.health().await.unwrap().ledger.counts.open(), 1, "nothing changed");

    let done = collector.expect_all(ids(1001)).await.unwrap();
    assert_eq!((done.to_poll, done.has_article, done.given_up), (1000, 1, 0));
    assert_eq!(world.job("old_7").await.reason, Reason::Backfill);
    assert_eq!(world.job("old_1").await.reason, Reason::OrderedElsewhere);
}

#[tokio::test]
async fn a_backfill_goes_on_where_the_store_failed() {
    let world = World::new();
    let collector = world.collector();
    assert_eq!(collector.expect_all(ids(700)).await.unwrap().to_poll, 700);
    world.ledger.fault("Expecting", Fault::Fails(1));
    let stopped = collector.expect_all(ids(1200)).await.unwrap_err();
    assert_eq!((stopped.done, stopped.error.is_transient()), (0, true));
    assert_eq!(collector.expect_all(ids(1200)).await.unwrap().to_poll, 1200);
    assert_eq!(collector.health().await.unwrap().ledger.counts.open(), 1200);
}

/// The same ids again change nothing, also where a job has ended without an article. A person who names one opens it.
#[tokio::test]
async fn a_backfill_opens_no_job_that_has_ended() {
    let world = World::new();
    let collector = world.collector();
    collector.expect_all(ids(3)).await.unwrap();
    let failed = r#"{"error":"generation_failed","message":""}"#;
    world.api.on_poll(|job| match job {
        "old_0" => Reply::complete(job),
        "old_1" => Reply::Says(500, "", failed.to_owned()),
        _ => Reply::queued(),
    });
    collector.run_until_idle().await.unwrap();
    let before = world.job("old_1").await;
    assert_eq!(before.state, JobState::Failed);
    let (has_article, given_up) = (1, 1);
    let plan = collector.plan(ids(3)).await.unwrap();
    assert_eq!((plan.to_poll, plan.has_article, plan.given_up), (1, has_article, given_up));
    let done = collector.expect_all(ids(3)).await.unwrap();
    assert_eq!((done.to_poll, done.has_article, done.given_up), (1, has_article, given_up));
    assert_eq!(world.job("old_1").await, before);
    assert_eq!(collector.expect(before.job_id).await.unwrap(), JobState::Expected);
}

/// They are due as the tokens come, so that no other job waits for all of them.
#[tokio::test]
async fn a_backfill_is_spread_at_the_rate() {
    let world = World::new();
    let collector = world.builder().rate(30, 5).concurrency(1).build().unwrap();
    let begin = world.clock.now();
    collector.expect_all(ids(1000)).await.unwrap();
    for (id, seconds) in [(0, 0), (4, 0), (5, 2), (499, 990), (500, 992), (999, 1990)] {
        assert_eq!(world.job(&format!("old_{id}")).await.at, begin + seconds * SECOND, "{id}");
    }
    world.api.on_poll(Reply::complete);
    world.expect(&collector, &["new"]).await;
    for _ in 0..11 * MINUTE.as_secs() {
        collector.run_until_idle().await.unwrap();
        world.clock.advance(SECOND);
    }
    assert_eq!(world.state("new").await, JobState::Collected, "due after ten minutes");
    assert_eq!(world.state("old_999").await, JobState::Expected);
}
