use std::sync::{Arc, Mutex};

use article_webhook_collector::OrderOutcome;
use article_webhook_inbox::{IntentState, JobState, PauseReason, Reason, store::Store};
use article_webhook_inbox_contract::faulty::Fault;
use tokio::{sync::Notify, time::Instant};

use crate::{
    api::Reply,
    world::{HOUR, MINUTE, SECOND, World, order, shoes},
};

#[tokio::test]
async fn an_order_is_expected_under_its_intent() {
    let world = World::new();
    let collector = world.collector();
    let ordered = order(&collector, "post-17").await;
    assert!(matches!(ordered, OrderOutcome::Ordered(job) if job.as_str() == "job_1"));
    let job = world.job("job_1").await;
    assert_eq!((job.reason, job.intent.as_deref()), (Reason::Ordered, Some("post-17")));
    assert_eq!(job.at, world.clock.now() + 10 * MINUTE);

    let ordered = order(&collector, "post-17").await;
    assert!(matches!(ordered, OrderOutcome::OrderedBefore(Some(job)) if job.as_str() == "job_1"));
    assert_eq!(world.api.orders(), 1);
}

/// The intent is committed before the call: a crash at any time between them is known afterwards.
#[tokio::test]
async fn the_intent_is_stored_when_the_call_is_made() {
    let world = World::new();
    let seen = Arc::new(Mutex::new(None));
    let (ledger, at_the_call) = (world.ledger.clone(), seen.clone());
    world.api.on_order(move || {
        let intent = pollster::block_on(ledger.intent("post-17")).unwrap();
        *at_the_call.lock().unwrap() = intent.map(|intent| intent.state);
        Reply::created("job_1")
    });
    assert!(order(&world.collector(), "post-17").await.job_id().is_some());
    assert_eq!(*seen.lock().unwrap(), Some(IntentState::Ordering));
}

#[tokio::test]
async fn an_order_that_was_certainly_not_taken_can_be_placed_at_once() {
    let world = World::new();
    let collector = world.collector();
    let failed = r#"{"error":"generation_failed","message":"","details":{"step":"outline"}}"#;
    for reply in [
        Reply::Unreachable,
        Reply::status(402),
        Reply::status(403),
        Reply::Says(500, "", failed.to_owned()),
    ] {
        let answer = reply.clone();
        world.api.on_order(move || answer.clone());
        let outcome = order(&collector, "post-17").await;
        assert!(matches!(outcome, OrderOutcome::Refused(_)), "{reply:?}: {outcome:?}");
        assert_eq!(world.intent("post-17").await, None, "{reply:?}");
    }
    world.api.on_order(|| Reply::created("job_1"));
    assert!(order(&collector, "post-17").await.job_id().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_after_the_answer_is_tried_until_it_keeps_the_job() {
    let world = World::new();
    world.ledger.fault("Ordered", Fault::Fails(20));
    let before = tokio::time::Instant::now();
    let outcome = order(&world.collector(), "post-17").await;
    assert_eq!(outcome.job_id().map(|job| job.as_str()), Some("job_1"), "returned all the same");
    assert_eq!(before.elapsed().as_secs(), 0, "the caller does not wait");
    assert_eq!(world.intent("post-17").await, Some(IntentState::Ordering));
    world.clock.advance(HOUR);
    assert_eq!(world.intent("post-17").await, Some(IntentState::Unknown), "its deadline is over");
    tokio::time::sleep(HOUR).await;
    assert_eq!(world.intent("post-17").await, Some(IntentState::Ordered));
    assert_eq!(world.state("job_1").await, JobState::Expected);
}

#[tokio::test]
async fn nothing_is_sent_if_the_store_fails_before() {
    let world = World::new();
    world.ledger.fault("Intend", Fault::Fails(1));
    let error = world.collector().order("post-17", &shoes()).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), world.api.orders()), ("the store is down", 0));
    assert_eq!(world.intent("post-17").await, None);
}

/// A pause may have come since the token was taken, and another task may order again once the deadline has passed. In the second
/// case the clock was set back meanwhile, and does not show how old the token is.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_when_the_store_took_longer_than_a_token_is_valid() {
    for too_late in [Fault::Takes(5 * SECOND + SECOND / 1000), Fault::Slow(10 * SECOND)] {
        let world = World::new();
        world.ledger.fault("Intend", too_late);
        let error = world.collector().order("post-17", &shoes()).await.unwrap_err();
        let message = "the store took too long to keep the intent, and nothing was ordered";
        assert_eq!((error.to_string().as_str(), world.api.orders()), (message, 0));
        assert_eq!(world.intent("post-17").await, None, "it may be ordered at once");

        world.ledger.fault("Intend", Fault::Takes(5 * SECOND));
        assert!(order(&world.collector(), "post-17").await.job_id().is_some());
    }
}

#[tokio::test]
async fn an_answer_429_pauses_orders_in_full() {
    let world = World::new();
    let collector = world.collector();
    world.api.on_order(|| Reply::Says(429, "86400", String::new()));
    assert!(matches!(order(&collector, "post-17").await, OrderOutcome::Refused(_)));

    world.api.on_order(|| Reply::created("job_1"));
    world.clock.advance(24 * HOUR - SECOND);
    let OrderOutcome::Paused(pause) = order(&collector, "post-17").await else {
        panic!("the service asked for a day")
    };
    assert_eq!((pause.why, pause.until), (PauseReason::RateLimited, world.clock.now() + SECOND));
    assert_eq!((world.api.orders(), world.intent("post-17").await), (1, None));
    world.clock.advance(SECOND);
    assert!(order(&collector, "post-17").await.job_id().is_some());
}

#[tokio::test]
async fn an_answer_401_pauses_orders_until_a_person_resumes() {
    let world = World::new();
    let collector = world.collector();
    world.api.on_order(|| Reply::status(401));
    assert!(matches!(order(&collector, "post-17").await, OrderOutcome::Refused(_)));
    let OrderOutcome::Paused(pause) = order(&collector, "post-17").await else { panic!("paused") };
    assert!(matches!(pause.why, PauseReason::KeyRefused { .. }));
    assert_eq!(collector.health().await.unwrap().ledger.key_refused_at, Some(world.clock.now()));

    world.api.on_order(|| Reply::created("job_1"));
    collector.resume().await.unwrap();
    assert!(order(&collector, "post-17").await.job_id().is_some());
}

/// The pause comes with the answer of one of two orders that were sent at once. The other is answered with a shorter pause.
#[tokio::test(start_paused = true)]
async fn the_longest_pause_holds_although_the_store_cannot_keep_it() {
    let world = World::new();
    world.ledger.fault("Report", Fault::DOWN);
    let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let mut replies = [(first.clone(), "86400"), (second.clone(), "60")].into_iter();
    world.api.on_order(move || {
        let (until, pause) = replies.next().expect("there are two orders");
        Reply::Waits(until, 429, pause, String::new())
    });
    let collector = world.collector();
    let ordering = ["post-17", "post-18"].map(|intent| {
        let collector = collector.clone();
        tokio::spawn(async move { order(&collector, intent).await })
    });
    world.pass(SECOND, SECOND).await;
    assert_eq!(world.api.orders(), 2);
    for (answered, ordering) in [first, second].into_iter().zip(ordering) {
        answered.notify_one();
        let before = Instant::now();
        assert!(matches!(ordering.await.unwrap(), OrderOutcome::Refused(_)));
        assert_eq!(before.elapsed().as_secs(), 0, "the caller does not wait");
    }
    world.pass(HOUR, MINUTE).await;
    collector.order("post-19", &shoes()).await.unwrap_err();
    assert_eq!((world.api.orders(), world.intent("post-19").await), (2, None));

    world.ledger.repair();
    let OrderOutcome::Paused(pause) = order(&collector, "post-19").await else {
        panic!("it is paused")
    };
    assert!(pause.until.duration_since(world.clock.now()).unwrap() > 22 * HOUR);
}
