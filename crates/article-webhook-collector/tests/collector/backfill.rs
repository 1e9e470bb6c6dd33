use article_webhook_collector::{BackfillPlan, Backfilled};
use article_webhook_inbox::{JobState, Reason};

use crate::{
    api::Reply,
    faulty_ledger::Fault,
    world::{HOUR, MINUTE, SECOND, World},
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
    let expected = BackfillPlan {
        asked_for: 1000,
        has_article: 1,
        given_up: 0,
        no_trace: 999,
        takes: 2000 * SECOND,
    };
    assert_eq!(plan, expected);
    assert_eq!(collector.health().await.unwrap().ledger.counts.open(), 1, "nothing changed");

    let done = collector.expect_all(ids(1001)).await.unwrap();
    assert_eq!(done, Backfilled { asked_for: 1000, has_article: 1, given_up: 0 });
    assert_eq!(world.job("old_7").await.reason, Reason::Backfill);
    assert_eq!(world.job("old_1").await.reason, Reason::OrderedElsewhere);
}

#[tokio::test]
async fn a_backfill_goes_on_where_the_store_failed() {
    let world = World::new();
    let collector = world.collector();
    assert_eq!(collector.expect_all(ids(700)).await.unwrap().asked_for, 700);
    world.ledger.fault("expect", Fault::Fails(1));
    let stopped = collector.expect_all(ids(1200)).await.unwrap_err();
    assert_eq!((stopped.done, stopped.error.is_transient()), (0, true));
    assert_eq!(collector.expect_all(ids(1200)).await.unwrap().asked_for, 1200);
    assert_eq!(collector.health().await.unwrap().ledger.counts.open(), 1200);
}

/// The same ids again change nothing, also where a job has ended without an article. A person who names one opens it.
#[tokio::test]
async fn a_backfill_opens_no_job_that_has_ended() {
    let world = World::new();
    let collector = world.collector();
    collector.expect_all(ids(3)).await.unwrap();
    let failed = r#"{"error":"generation_failed","message":""}"#;
    world.api.on_ask(|job| match job {
        "old_0" => Reply::complete(job),
        "old_1" => Reply::Says(500, "", failed.to_owned()),
        _ => Reply::queued(),
    });
    collector.run_until_idle().await.unwrap();
    let before = world.job("old_1").await;
    assert_eq!(before.state, JobState::Failed);
    let (has_article, given_up) = (1, 1);
    let plan = collector.plan(ids(3)).await.unwrap();
    assert_eq!((plan.asked_for, plan.has_article, plan.given_up), (1, has_article, given_up));
    let done = collector.expect_all(ids(3)).await.unwrap();
    assert_eq!(done, Backfilled { asked_for: 1, has_article, given_up });
    assert_eq!(world.job("old_1").await, before);
    assert_eq!(collector.expect(before.job_id).await.unwrap(), JobState::Expected);
}

/// Whatever else is due comes first.
#[tokio::test]
async fn a_backfill_takes_what_is_left_of_the_tokens() {
    let world = World::new();
    let collector = world.builder().rate(30, 5).concurrency(1).build().unwrap();
    collector.expect_all(ids(10)).await.unwrap();
    world.api.on_ask(Reply::complete);
    world.expect(&collector, &["job_1", "job_2"]).await;
    world.clock.advance(10 * MINUTE);
    collector.run_until_idle().await.unwrap();
    let asked = world.api.asked();
    assert_eq!(asked.len(), 5, "the burst");
    assert_eq!(asked[..2], ["job_1", "job_2"]);
    assert!(asked[2..].iter().all(|job| job.starts_with("old_")));
    world.clock.advance(HOUR);
    collector.run_until_idle().await.unwrap();
    assert_eq!(world.state("old_4").await, JobState::Collected);
}
