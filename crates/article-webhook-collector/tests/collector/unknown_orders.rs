use std::time::SystemTime;

use article_webhook::{AuthToken, CapabilityKey, Envelope, Receiver, Refused, Sink as _};
use article_webhook_collector::OrderOutcome;
use article_webhook_inbox::{
    IntentState,
    store::{Recorded, Store},
};
use article_webhook_inbox_contract::faulty::Fault;

use crate::{
    api::{Reply, article},
    world::{DAY, MINUTE, SECOND, World, order, shoes},
};

/// A world in which the answer to the order of `post-17` was lost.
async fn after_a_lost_answer() -> World {
    let world = World::new();
    world.api.on_order(|| Reply::Unanswered);
    let outcome = order(&world.collector(), "post-17").await;
    let OrderOutcome::Unknown { cause: Some(cause), .. } = outcome else { panic!("{outcome:?}") };
    assert!(cause.is_outcome_unknown());
    world.api.on_order(|| Reply::created("job_2"));
    world
}

fn capability_key() -> CapabilityKey {
    CapabilityKey::new(b"0123456789abcdef0123456789abcdef").unwrap()
}

/// A delivery of `job_1` to the URL of an order.
fn open(segment: &str, now: SystemTime) -> Result<Envelope, Refused> {
    let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap());
    let headers = [
        ("Content-Type", "application/json"),
        ("X-Service-Event", "article.complete"),
        ("X-Service-Job-Id", "job_1"),
    ];
    receiver.open_capability(&capability_key(), segment, now, &headers)
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_certain_answer_is_not_repeated() {
    for reply in [
        Reply::Unanswered,
        Reply::Panics,
        Reply::Hangs,
        Reply::status(200),
        Reply::status(500),
        Reply::status(503),
        Reply::created("not a job id"),
    ] {
        let world = World::new();
        let answer = reply.clone();
        world.api.on_order(move || answer.clone());
        let collector = world.collector();
        let outcome = order(&collector, "post-17").await;
        assert!(matches!(outcome, OrderOutcome::Unknown { .. }), "{reply:?}: {outcome:?}");
        let lost_at = world.clock.now();
        for _ in 0..2 {
            let outcome = order(&collector, "post-17").await;
            let OrderOutcome::Unknown { since, cause: None, .. } = outcome else {
                panic!("{reply:?}: {outcome:?}")
            };
            assert_eq!(since, lost_at, "{reply:?}");
            world.clock.advance(2 * MINUTE);
        }
        assert_eq!(world.api.orders(), 1, "{reply:?}");
        assert_eq!(collector.health().await.unwrap().ledger.counts.unknown_intents, 1);
    }
}

/// The process died in the call, so that its end is not stored.
#[tokio::test]
async fn an_order_without_an_end_is_unknown_from_its_deadline_on() {
    let world = World::new();
    _ = world.ledger.intend("post-17", MINUTE, 1, None).await.unwrap();
    let collector = world.collector();
    let again = async || collector.order_again("post-17", &shoes()).await.unwrap();
    let OrderOutcome::InProgress { until, .. } = again().await else { panic!("too early") };
    assert_eq!(until, world.clock.now() + MINUTE);
    world.clock.advance(MINUTE);
    let outcome = order(&collector, "post-17").await;
    assert!(matches!(outcome, OrderOutcome::Unknown { since, .. } if since == until));
    assert!(matches!(again().await, OrderOutcome::Ordered(_)));
}

/// Until then, other orders return that it is in progress.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_call_is_stored_although_the_store_failed_first() {
    let world = World::new();
    world.ledger.fault("OutcomeLost", Fault::Fails(3));
    world.api.on_order(|| Reply::Unanswered);
    let collector = world.collector();
    assert!(matches!(order(&collector, "post-17").await, OrderOutcome::Unknown { .. }));
    assert!(matches!(order(&collector, "post-17").await, OrderOutcome::InProgress { .. }));
    tokio::time::sleep(MINUTE).await;
    assert!(matches!(order(&collector, "post-17").await, OrderOutcome::Unknown { .. }));
    assert_eq!(world.api.orders(), 1);
}

/// The task of the order goes on, and stores its end.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_call_is_stored_although_its_caller_hung_up() {
    for (body, end) in
        [("<html>", IntentState::Unknown), (r#"{"job_id":"job_1"}"#, IntentState::Ordered)]
    {
        let world = World::new();
        let (collector, article) = (world.collector(), shoes());
        let answered = world.api.orders_wait(body);
        let call = collector.order("post-17", &article);
        assert!(tokio::time::timeout(SECOND, call).await.is_err());
        assert_eq!(world.api.orders(), 1);
        assert_eq!(world.intent("post-17").await, Some(IntentState::Ordering));
        answered.notify_one();
        tokio::time::sleep(SECOND).await;
        assert_eq!(world.intent("post-17").await, Some(end), "{body}");
    }
}

#[tokio::test]
async fn an_unknown_order_is_placed_again() {
    let world = after_a_lost_answer().await;
    let collector = world.collector();
    let again = async || collector.order_again("post-17", &shoes()).await.unwrap();
    let OrderOutcome::Ordered(job) = again().await else { panic!("it may be ordered") };
    assert_eq!((job.as_str(), world.api.orders()), ("job_2", 2));
    assert!(matches!(again().await, OrderOutcome::OrderedBefore(Some(_))), "its job is known");
    // The article of the first call is accepted, and the intent stays with its job.
    assert_eq!(world.deliver("job_1", Some("post-17")).await, Recorded::Stored);
    let outcome = order(&collector, "post-17").await;
    assert!(matches!(outcome, OrderOutcome::OrderedBefore(Some(job)) if job.as_str() == "job_2"));
}

/// A proxy may repeat the request that it could not forward.
#[tokio::test]
async fn an_order_that_is_echoed_shows_no_part_of_its_webhook_url() {
    for status in [400, 502] {
        let world = World::new();
        let collector =
            world.builder().webhook_urls(capability_key(), "https://shop.example/orders");
        world.api.on_order(move || Reply::Echoes(status));
        let outcome = order(&collector.build().unwrap(), "post-17").await;
        let (OrderOutcome::Unknown { cause: Some(error), .. } | OrderOutcome::Refused(error)) =
            &outcome
        else {
            panic!("{outcome:?}")
        };
        let sent = serde_json::to_value(world.api.last_order()).unwrap();
        let segment = sent["webhook_url"].as_str().unwrap().rsplit('/').next().unwrap();
        let shown = format!("{outcome:?} {error} {error:?} {:?}", error.response());
        assert!(shown.contains("(the webhook URL)"), "{shown}");
        assert!(!shown.contains("shop.example") && !shown.contains(&segment[..16]), "{shown}");
    }
}

/// The answer to the order was lost, and the receiver refuses the delivery to its URL, or cannot store it.
#[tokio::test]
async fn a_delivery_that_is_not_stored_shows_what_an_order_became() {
    for is_refused in [true, false] {
        let world = after_a_lost_answer().await;
        let now = world.clock.now();
        let segment = capability_key().mint("post-17", now + DAY).unwrap();
        let open = open(segment.as_str(), now).unwrap();
        if is_refused {
            world.inbox.refused(&open.read("{").unwrap_err());
        } else {
            world.ledger.fault("Record", Fault::Fails(1));
            let delivery = open.read(article("job_1")).unwrap();
            assert_eq!(world.inbox.accept(delivery).await, article_webhook::Reply::Unavailable);
        }
        while world.intent("post-17").await != Some(IntentState::Ordered) {
            tokio::task::yield_now().await;
        }
        let outcome = order(&world.collector(), "post-17").await;
        let job = outcome.job_id().map(|job| job.as_str().to_owned());
        assert_eq!((job.as_deref(), world.api.orders()), (Some("job_1"), 1));
        assert_eq!(world.job("job_1").await.intent.as_deref(), Some("post-17"));
    }
}

/// The receiver accepts the URL, for 30 days, and finds the intent in it.
#[tokio::test]
async fn an_order_carries_its_intent_in_its_webhook_url() {
    let world = World::new();
    let base = "https://shop.example/orders";
    let collector = world.builder().webhook_urls(capability_key(), base).build().unwrap();
    // Its own URL gives way.
    let article = shoes().webhook_url("https://elsewhere.example/");
    assert!(collector.order("post-17", &article).await.unwrap().job_id().is_some());

    let order = serde_json::to_value(world.api.last_order()).unwrap();
    let url = order["webhook_url"].as_str().expect("it has one");
    let segment = url.strip_prefix("https://shop.example/orders/").expect("it begins so");
    assert!(open(segment, world.clock.now() + 30 * DAY).is_err());
    let envelope = open(segment, world.clock.now() + 29 * DAY).unwrap();
    let delivery = envelope.read(r#"{"job_id": "job_1"}"#).unwrap();
    assert_eq!(delivery.intent(), Some("post-17"));
}
