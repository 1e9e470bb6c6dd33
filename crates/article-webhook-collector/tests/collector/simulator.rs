//! Against the simulator, over sockets: the receiver never gets the delivery, and the collector brings the article.

use std::{sync::mpsc, time::Duration};

use article_webhook_client::{ApiKey, Client};
use article_webhook_collector::{Collector, OrderOutcome};
use article_webhook_inbox::{Job, JobState, Source, State, store::Store};
use article_webhook_simulator::{
    DeliveryOutcome, Fault, Push, Rule, Sender, Sending, Simulator, SimulatorClock, StatusCode,
};

use crate::world::{DAY, HOUR, MINUTE, SECOND, World, key, order, shoes};

const KEY: &str = "sk-simulator";

/// A receiver that is down for the whole time in which the service delivers.
struct Down;

impl Sender for Down {
    fn send<'a>(&'a self, _: &'a Push) -> Sending<'a> {
        Box::pin(async { DeliveryOutcome::status(StatusCode::SERVICE_UNAVAILABLE) })
    }
}

/// The service and the store, on clocks that are stepped together.
struct Shop {
    world: World,
    simulator: Simulator,
    collector: Collector,
}

impl Shop {
    async fn open(faults: Vec<Rule>) -> Self {
        let simulator = Simulator::builder()
            .clock(SimulatorClock::stepped())
            .publish_target("http://receiver.test/", "Bearer 5f2b9c0e7a1d4e38")
            .sender(Down);
        let simulator = simulator.start().await.unwrap();
        simulator.set_faults(faults);
        let world = World::new();
        let client = Client::new(ApiKey::new(KEY).unwrap(), &simulator.base_url()).unwrap();
        let collector = Collector::new(&world.inbox, client);
        Self { world, simulator, collector }
    }

    /// Lets a minute pass at a time, and polls after each.
    async fn pass(&self, time: Duration) {
        for _ in 0..time.as_secs() / 60 {
            self.world.clock.advance(MINUTE);
            self.simulator.advance(MINUTE).await;
            self.collector.run_until_idle().await.unwrap();
        }
    }
}

#[tokio::test]
async fn ten_articles_that_were_never_delivered_are_handled() {
    let shop = Shop::open(Vec::new()).await;
    for post in 0..10 {
        let outcome = order(&shop.collector, &format!("post-{post}")).await;
        assert!(matches!(outcome, OrderOutcome::Ordered(_)), "{outcome:?}");
    }
    shop.pass(HOUR).await;
    assert_eq!(shop.simulator.attempts().len(), 40, "four attempts each, all in vain");

    let inbox = &shop.world.inbox;
    inbox.worker(|_| async { Ok(()) }).run_until_idle().await.unwrap();
    assert_eq!(inbox.counts().await.unwrap().of(State::Done), 10);
    for job in shop.simulator.jobs() {
        let (_, bodies) = shop.world.ledger.show(key(&job.job_id)).await.unwrap().unwrap();
        assert_eq!((bodies.len(), bodies[0].source), (1, Source::Api));
    }
    let counts = shop.collector.health().await.unwrap().ledger.counts;
    assert_eq!((counts.of(JobState::Collected), counts.recovered), (10, 10));
}

/// The worker reads of the stored response what the client reads of the same response.
#[tokio::test]
async fn a_failed_job_reaches_the_application_with_its_step_and_its_credits() {
    let shop = Shop::open(Vec::new()).await;
    let article = shoes().field("fail_at", "draft".into());
    let ordered = shop.collector.order("post-17", &article).await.unwrap();
    let OrderOutcome::Ordered(job_id) = ordered else { panic!("{ordered:?}") };
    shop.pass(HOUR).await;

    let (sender, failures) = mpsc::channel();
    let on_failure = move |job: Job| {
        sender.send(job).unwrap();
        async { Ok(()) }
    };
    let worker = shop.world.inbox.worker(|_| async { panic!("there is no article") });
    worker.on_failure(on_failure).run_until_idle().await.unwrap();
    let failed = failures.recv().unwrap();
    assert_eq!((failed.job_id(), failed.intent()), (&job_id, Some("post-17")));
    let failure = failed.failure().unwrap();
    assert_eq!((failure.step.as_deref(), failure.credits_refunded), (Some("draft"), Some(1)));
    assert_eq!(shop.world.inbox.counts().await.unwrap().of(State::Done), 1);

    let client = Client::new(ApiKey::new(KEY).unwrap(), &shop.simulator.base_url()).unwrap();
    let error = client.article(&job_id).await.unwrap_err();
    assert_eq!(error.code().map(|code| code.as_str()), failure.code.as_deref());
    assert_eq!(
        (error.step(), error.credits_refunded()),
        (failure.step.as_deref(), failure.credits_refunded)
    );
    assert_eq!(error.message(), failure.message.as_deref());
}

/// Calls are cut, fail and are limited, and the job that failed says why. No order is placed twice.
#[tokio::test]
async fn every_order_ends_although_the_api_fails_now_and_then() {
    let shop = Shop::open(vec![
        Rule::new(Fault::ApiMalformed).nth(3),
        Rule::new(Fault::ApiStatus(StatusCode::SERVICE_UNAVAILABLE)).nth(5),
        Rule::new(Fault::ApiRateLimited(MINUTE)).nth(8),
    ])
    .await;
    let mut unknown = 0;
    for post in 0..20 {
        let article = if post == 19 { shoes().field("fail_at", "draft".into()) } else { shoes() };
        loop {
            match shop.collector.order(&format!("post-{post}"), &article).await.unwrap() {
                OrderOutcome::Ordered(_) => break,
                OrderOutcome::Unknown { .. } => {
                    unknown += 1;
                    break;
                }
                // What is certainly not ordered is ordered again, and nothing else is.
                OrderOutcome::Refused(_) | OrderOutcome::Paused(_) => {
                    shop.world.clock.advance(MINUTE);
                    shop.simulator.advance(MINUTE).await;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((unknown, shop.simulator.jobs().len()), (2, 19), "the 503 was not carried out");

    shop.simulator.set_faults(vec![
        Rule::new(Fault::ApiStatus(StatusCode::SERVICE_UNAVAILABLE)).probability(0.2),
        Rule::new(Fault::ApiRateLimited(30 * SECOND)).probability(0.1),
        Rule::new(Fault::ApiMalformed).probability(0.1),
    ]);
    shop.pass(2 * DAY).await;
    let counts = shop.collector.health().await.unwrap().ledger.counts;
    assert_eq!((counts.of(JobState::Collected), counts.of(JobState::Failed)), (17, 1));
    assert_eq!((counts.open(), counts.unknown_intents), (0, 2));
}
