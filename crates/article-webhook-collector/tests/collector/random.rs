//! Random faults of the API, of the store and of the process, one seed per run.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook_client::NewArticle;
use article_webhook_collector::{Collector, OrderOutcome};
use article_webhook_inbox::{IntentState, JobState};
use article_webhook_inbox_contract::faulty::Fault;
use fastrand::Rng;

use crate::{
    api::Reply,
    world::{HOUR, SECOND, World},
};

const INTENTS: u8 = 8;

/// How often the service took an order, by its topic, which is its intent.
type Taken = Arc<Mutex<HashMap<String, u32>>>;

/// The API takes some orders, answers some of those, and gives articles now and then.
fn draw_answers(world: &World, seed: u64, taken: &Taken) {
    let (mut draw, taken) = (Rng::with_seed(seed), Arc::clone(taken));
    world.api.on_order_of(move |topic| {
        let take = || *taken.lock().unwrap().entry(topic.to_owned()).or_default() += 1;
        match draw.u8(..10) {
            0 => Reply::Unanswered,
            1 => {
                take();
                Reply::Unanswered
            }
            2 => {
                take();
                Reply::status(502)
            }
            3 => Reply::status(402),
            4 => Reply::Says(429, "60", String::new()),
            5 => Reply::Unreachable,
            _ => {
                take();
                Reply::created(&format!("job_{topic}"))
            }
        }
    });
    let mut draw = Rng::with_seed(seed + 1);
    world.api.on_poll(move |job| match draw.u8(..12) {
        0 => Reply::status(503),
        1 => Reply::Says(429, "3600", String::new()),
        2 => Reply::status(401),
        3 => Reply::Panics,
        4 => Reply::Unanswered,
        5 => Reply::Says(200, "", "<html>".to_owned()),
        6 => Reply::complete("job_of_another"),
        7 => Reply::Hangs,
        8 | 9 => Reply::queued(),
        _ => Reply::complete(job),
    });
}

/// A call of the store fails, an order is placed, or the process works for some time and dies.
async fn step(world: &World, collector: &Collector, draw: &mut Rng) {
    match draw.u8(..4) {
        0 => {
            let calls = [
                "Intend",
                "Ordered",
                "NotTaken",
                "OutcomeLost",
                "PollClaim",
                "SettlePoll",
                "Report",
            ];
            let call = calls[draw.usize(..calls.len())];
            world.ledger.fault(call, Fault::Fails(draw.u32(1..4)));
        }
        1 => {
            let intent = format!("post-{}", draw.u8(..INTENTS));
            // An error is a store that failed.
            let _: Result<OrderOutcome, _> =
                collector.order(&intent, &NewArticle::new(&intent)).await;
        }
        2 => {
            let life = Duration::from_millis(draw.u64(1..60_000));
            let run = collector.clone().run(std::future::pending::<()>());
            assert!(tokio::time::timeout(life, run).await.is_err(), "it dies at work");
        }
        _ => world.clock.advance(Duration::from_secs(draw.u64(1..7200))),
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_fails_no_intent_is_ordered_twice_and_every_job_ends() {
    let (mut collected, mut unknown) = (0, 0);
    for seed in 0..100 {
        let (world, taken) = (World::new(), Taken::default());
        let collector = world.builder().build().unwrap();
        draw_answers(&world, seed, &taken);
        let mut draw = Rng::with_seed(seed);
        for _ in 0..60 {
            step(&world, &collector, &mut draw).await;
        }
        world.api.on_poll(Reply::complete);
        world.ledger.repair();
        // What the store did not keep at once is kept by now.
        tokio::time::sleep(HOUR).await;
        world.clock.advance(HOUR);
        collector.resume().await.unwrap();
        for _ in 0..48 {
            world.poll_after(HOUR, &collector).await;
        }

        let counts = collector.health().await.unwrap().ledger.counts;
        assert_eq!(counts.open(), 0, "seed {seed}");
        for intent in (0..INTENTS).map(|post| format!("post-{post}")) {
            let times = taken.lock().unwrap().get(&intent).copied().unwrap_or_default();
            assert!(times <= 1, "seed {seed}: {intent} was ordered {times} times");
            match world.intent(&intent).await {
                Some(IntentState::Ordered) => {
                    let job = format!("job_{intent}");
                    assert_eq!(world.state(&job).await, JobState::Collected, "seed {seed}: {job}");
                    collected += 1;
                }
                Some(IntentState::Unknown) => unknown += 1,
                None => assert_eq!(times, 0, "seed {seed}: {intent} was forgotten"),
                other => panic!("seed {seed}: {intent} is {other:?}"),
            }
        }
    }
    assert!(collected > 100 && unknown > 50, "{collected} collected, {unknown} unknown");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_dropped_after_its_time_limit() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.clock.advance(HOUR);
    world.api.on_poll(|_| Reply::Hangs);
    let start = tokio::time::Instant::now();
    collector.run_until_idle().await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 31);
    let cause = world.job("job_1").await.cause;
    assert_eq!(cause.as_deref(), Some("the call took longer than its time limit"));
    assert!(world.job("job_1").await.at > world.clock.now() + SECOND);
}
