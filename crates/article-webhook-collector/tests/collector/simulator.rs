//! Against the simulator, over sockets: the receiver never gets the delivery, and the collector brings the article.

use std::{sync::mpsc, time::Duration};

use article_webhook_client::{ApiKey, Client};
use article_webhook_collector::{Collector, OrderOutcome};
use article_webhook_inbox::{Job, JobState, Source, State, store::Store};
use article_webhook_simulator::{
    DeliveryOutcome, Push, Sender, Sending, Simulator, SimulatorClock, StatusCode,
};

use crate::world::{HOUR, MINUTE, World, key, order, shoes};

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
    async fn open() -> Self {
        let simulator = Simulator::builder()
            .clock(SimulatorClock::stepped())
            .publish_target("http://receiver.test/", "Bearer 5f2b9c0e7a1d4e38")
            .sender(Down);
        let simulator = simulator.start().await.unwrap();
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
    let shop = Shop::open().await;
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
    let shop = Shop::open().await;
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
