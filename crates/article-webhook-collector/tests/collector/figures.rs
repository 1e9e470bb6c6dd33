use article_webhook_collector::Schedule;

use crate::{
    api::Reply,
    world::{DAY, HOUR, MINUTE, World, order},
};

/// Where nothing is delivered, an article that was collected is no sign of a lost delivery.
#[tokio::test]
async fn nothing_is_recovered_under_polling() {
    for (schedule, recovered) in [(Schedule::webhooks(), 1), (Schedule::polling(), 0)] {
        let world = World::new();
        let collector = world.builder().schedule(schedule).build().unwrap();
        world.expect(&collector, &["job_1"]).await;
        world.api.on_poll(Reply::complete);
        world.poll_after(HOUR, &collector).await;
        world.clock.advance(HOUR);
        let health = collector.health().await.unwrap();
        assert_eq!(health.ledger.counts.recovered, recovered, "{schedule:?}");
    }
}

#[tokio::test]
async fn health_shows_how_many_polls_may_be_sent() {
    let world = World::new();
    let collector = world.builder().rate(1, 3).build().unwrap();
    let tokens = async || collector.health().await.unwrap().tokens;
    assert_eq!(tokens().await, 3);
    _ = order(&collector, "post-1").await;
    assert_eq!(tokens().await, 3, "an order takes none");
    world.expect(&collector, &["job_2", "job_3"]).await;
    world.poll_after(HOUR, &collector).await;
    assert_eq!(tokens().await, 0, "three jobs");
    world.clock.advance(MINUTE);
    assert_eq!(tokens().await, 1);
    world.clock.advance(DAY);
    assert_eq!(tokens().await, 3);
}

/// Once an hour, and at the end.
#[tokio::test(start_paused = true)]
async fn a_collector_that_runs_counts_its_ledger_every_hour() {
    let world = World::new();
    let before = world.ledger.calls("CountLedger");
    world.collector().run(tokio::time::sleep(3 * HOUR + MINUTE)).await.unwrap();
    assert_eq!(world.ledger.calls("CountLedger"), before + 4);
}
