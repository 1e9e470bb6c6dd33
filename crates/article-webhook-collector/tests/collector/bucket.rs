use article_webhook_client::NewArticle;
use article_webhook_collector::OrderOutcome;
use article_webhook_inbox::{JobState, PauseReason};
use article_webhook_inbox_contract::faulty::Fault;
use tokio::time::sleep;

use crate::{
    api::Reply,
    world::{DAY, HOUR, MINUTE, SECOND, World, order},
};

/// What the store says while it fails.
const DOWN: &str = "the store is down";

/// It is counted in full, and a token that was saved does not shorten it.
#[tokio::test]
async fn nothing_is_polled_within_a_retry_after() {
    let (world, collector) = World::expecting(&["job_1", "job_2"]).await;
    world.clock.advance(HOUR);
    let limited = |job: &str| match job {
        "job_1" => Reply::Says(429, "172800", String::new()),
        other => Reply::complete(other),
    };
    world.api.on_poll(limited);
    collector.run_until_idle().await.unwrap();
    let polled = world.api.polled().len();
    let paused = collector.health().await.unwrap().ledger.paused.expect("two days");
    assert_eq!((paused.why, paused.until), (PauseReason::RateLimited, world.clock.now() + 2 * DAY));

    world.expect(&collector, &["job_3"]).await;
    world.poll_after(2 * DAY - SECOND, &collector).await;
    assert_eq!(world.api.polled().len(), polled);
    world.api.on_poll(Reply::complete);
    world.poll_after(SECOND, &collector).await;
    for job in ["job_1", "job_2", "job_3"] {
        assert_eq!(world.state(job).await, JobState::Collected, "{job}");
    }
}

/// One try every five minutes, until the key is accepted. The jobs lose nothing by it.
#[tokio::test]
async fn a_refused_key_is_tried_from_time_to_time() {
    let world = World::new();
    let collector = world.one_at_a_time();
    let jobs: Vec<_> = (0..30).map(|job| format!("job_{job}")).collect();
    for job in &jobs {
        collector.expect(job.parse().unwrap()).await.unwrap();
    }
    world.api.on_poll(|_| Reply::status(401));
    world.clock.advance(HOUR);
    for _ in 0..6 * 60 {
        collector.run_until_idle().await.unwrap();
        world.clock.advance(MINUTE);
    }
    let polled = world.api.polled_at();
    let pauses = polled.windows(2).map(|pair| pair[1].duration_since(pair[0]).unwrap());
    assert_eq!(pauses.collect::<Vec<_>>(), [5 * MINUTE; 71]);
    assert!(collector.health().await.unwrap().ledger.key_refused_at.is_some());

    world.api.on_poll(Reply::complete);
    world.poll_after(2 * HOUR, &collector).await;
    collector.run_until_idle().await.unwrap();
    for job in &jobs {
        assert_eq!(world.state(job).await, JobState::Collected, "{job}");
    }
}

/// A 403 is about the job: the plan, another account, or a proxy.
#[tokio::test]
async fn forbidden_jobs_stop_neither_other_jobs_nor_orders() {
    let world = World::new();
    let collector = world.one_at_a_time();
    let forbidden = ["job_1", "job_2", "job_3", "job_4"];
    world.expect(&collector, &forbidden).await;
    world.api.on_poll(move |job_id| match forbidden.contains(&job_id) {
        true => Reply::status(403),
        false => Reply::complete(job_id),
    });
    for round in 0..5 {
        world.poll_after(HOUR, &collector).await;
        assert!(collector.health().await.unwrap().ledger.paused.is_none());
        let placed = order(&collector, &format!("post-{round}")).await;
        assert!(matches!(placed, OrderOutcome::Ordered(_)), "{placed:?}");
    }
    assert_eq!(world.state("job_4").await, JobState::Expected);
}

/// What the service says about an order shows as well that it accepts the key.
#[tokio::test]
async fn an_order_that_shows_that_the_key_is_accepted_ends_the_pause() {
    let failed = r#"{"error":"generation_failed","message":"","details":{"step":"outline"}}"#;
    let refused = |code| format!(r#"{{"error":"{code}","message":"no"}}"#);
    for (reply, is_paused) in [
        (Reply::created("job_9"), false),
        (Reply::Says(400, "", refused("invalid_request")), false),
        (Reply::Says(402, "", refused("credits_exhausted")), false),
        (Reply::Says(500, "", failed.to_owned()), false),
        (Reply::status(403), true),
        (Reply::Unanswered, true),
    ] {
        let world = World::new();
        let collector = world.one_at_a_time();
        world.api.on_poll(|_| Reply::status(401));
        let answer = reply.clone();
        world.api.on_order(move || answer.clone());
        world.expect(&collector, &["job_1"]).await;
        world.poll_after(10 * MINUTE, &collector).await;
        assert!(collector.health().await.unwrap().ledger.paused.is_some());
        world.clock.advance(5 * MINUTE);
        _ = order(&collector, "post-17").await;
        let paused = collector.health().await.unwrap().ledger.paused;
        assert_eq!(paused.is_some(), is_paused, "{reply:?}");
    }
}

/// The store fails for longer than the lease of the poll that was answered. The pause ends at the time that the service named.
#[tokio::test(start_paused = true)]
async fn a_pause_that_cannot_be_stored_is_kept_until_it_is() {
    let (world, collector) = World::expecting(&["job_1", "job_2"]).await;
    world.clock.advance(HOUR);
    world.api.on_poll(|_| Reply::Says(429, "86400", String::new()));
    for call in ["Report", "SettlePoll"] {
        world.ledger.fault(call, Fault::DOWN);
    }
    let (polled_at, running) = (world.clock.now(), collector.clone().run(sleep(3 * HOUR)));
    let running = tokio::spawn(running);
    world.pass(HOUR, SECOND).await;
    let polled = world.api.polled().len();
    assert!(polled <= 2, "{polled} polls, and the first was answered with a pause of a day");
    let ordered = collector.order("post-17", &NewArticle::new("Shoes")).await;
    assert_eq!((ordered.unwrap_err().to_string().as_str(), world.api.orders()), (DOWN, 0));

    world.ledger.repair();
    world.pass(MINUTE, SECOND).await;
    let pause = collector.health().await.unwrap().ledger.paused.expect("it is stored now");
    let late = pause.until.duration_since(polled_at + DAY).unwrap();
    assert!(late < 2 * SECOND, "{late:?} after the end of the pause");
    running.abort();
}
