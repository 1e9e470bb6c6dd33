//! Orders of a collector, whose articles are delivered to a URL of their own: behind each adapter, over sockets. The
//! receiver stores them in the inbox whose ledger has the orders.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use article_webhook::fixture::{self, TOKEN};
use article_webhook_client::{ApiKey, Client, Created, JobId, NewArticle, Response};
use article_webhook_collector::{Api, Calling, Collector, OrderOutcome};
use article_webhook_inbox::{
    Clock, EntryKey, ExpectedJob, Inbox, Job, JobFilter, JobState, MemoryStore, Source,
};
use article_webhook_simulator::{Fault, Rule, Simulator};
use article_webhook_tests::{
    connection::{Connection, wire},
    log_buffer::LogBuffer,
    serve::{Framework, capability_key},
};
use serde_json::json;

use crate::story::{KEY, serve};

const INTENT: &str = "post-17";
const TITLE: &str = "How to choose running shoes";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// A service, and an application that orders from it, on clocks that are stepped together.
struct Orders {
    clock: Clock,
    simulator: Arc<Simulator>,
    inbox: Inbox,
    collector: Collector,
}

/// Where the service delivers.
#[derive(Debug, Clone, Copy)]
enum Destination {
    OwnUrl,
    /// Also to a publish target, whose copies have no intent.
    OwnUrlAndTarget,
}

/// When the API answers a poll.
#[derive(Debug, Clone, Copy)]
enum Answer {
    AtOnce,
    /// The service delivers what is due within an hour before the answer arrives.
    AfterDeliveries,
    /// Somebody who has read the URL of the order delivers another job to it before the answer to the order arrives.
    AfterForgery,
}

impl Orders {
    async fn begin(framework: Framework, destination: Destination, answer: Answer) -> Self {
        // Receivers look at the system's clock: it says whether a URL has expired.
        let clock = Clock::stepped(SystemTime::now());
        let inbox = Inbox::new(MemoryStore::new(clock.clone()));
        let url = serve(framework, inbox.clone());
        let clock_of_service = article_webhook_simulator::SimulatorClock::stepped();
        let service = Simulator::builder().clock(clock_of_service).api_key(KEY).brand("brand_1");
        let service = match destination {
            Destination::OwnUrl => service,
            Destination::OwnUrlAndTarget => {
                service.publish_target(&format!("{url}/articles"), TOKEN)
            }
        };
        let simulator = Arc::new(service.start().await.unwrap());
        let client = Client::new(ApiKey::new(KEY).unwrap(), &simulator.base_url()).unwrap();
        let webhook_urls = format!("{url}/orders");
        let api = Line { client, simulator: Arc::clone(&simulator), answer, url };
        let collector = Collector::builder(&inbox, api)
            .webhook_urls(capability_key(), &webhook_urls)
            .build()
            .unwrap();
        Self { clock, simulator, inbox, collector }
    }

    async fn order(&self) -> OrderOutcome {
        let article = NewArticle::new(TITLE);
        self.collector.order(INTENT, &article).await.unwrap()
    }

    /// Lets this time pass, a minute at a time, and polls what is due after each.
    async fn pass(&self, time: Duration) {
        for _ in 0..time.as_secs() / 60 {
            self.clock.advance(MINUTE);
            self.simulator.advance(MINUTE).await;
            self.collector.run_until_idle().await.unwrap();
        }
    }

    /// The only job that the service has, and the ledger beside a forged one, about which the API is polled.
    async fn job(&self) -> ExpectedJob {
        let jobs = self.simulator.jobs();
        let mut known = self.inbox.jobs(JobFilter::default()).await.unwrap().items;
        known.retain(|job| job.job_id != forged_job());
        let [job] = known.try_into().expect("the ledger has one job");
        assert_eq!((jobs.len(), &*jobs[0].job_id), (1, job.job_id.as_str()), "ordered once");
        job
    }

    /// Runs the handler for everything that is due. The intents and titles it was given, and how each article came.
    async fn handled(&self) -> Vec<(Option<String>, String, Source)> {
        let handled: Arc<Mutex<Vec<_>>> = Arc::default();
        let calls = Arc::clone(&handled);
        let worker = self.inbox.worker(move |job: Job| {
            let title = job.article().unwrap().article.title.clone();
            calls.lock().unwrap().push((job.intent().map(str::to_owned), title, job.source()));
            async { Ok(()) }
        });
        worker.run_until_idle().await.unwrap();
        std::mem::take(&mut *handled.lock().unwrap())
    }

    /// How many bodies the entry of the job has.
    async fn bodies(&self, job_id: &JobId) -> usize {
        let entry = self.inbox.show(EntryKey::article(job_id.clone())).await.unwrap();
        entry.expect("the article is stored").1.len()
    }
}

/// The API, as the collector hears it.
struct Line {
    client: Client,
    simulator: Arc<Simulator>,
    answer: Answer,
    /// Of the receiver.
    url: String,
}

/// The title of a forged article.
const FORGED: &str = "Forged";

/// The job that a forged article names.
fn forged_job() -> JobId {
    "job_forged".parse().unwrap()
}

/// Delivers an article of this job to the URL of the order, and returns the status.
fn forge(url: &str, job_id: &JobId) -> u16 {
    let expires = SystemTime::now() + HOUR;
    let capability = capability_key().mint(INTENT, expires).unwrap();
    let article = json!({"title": FORGED, "html": ""});
    let post = fixture::minimal().job_id(job_id.as_str()).field("article", article);
    let path = format!("POST /webhooks/orders/{}", capability.as_str());
    let address = url.trim_start_matches("http://").split('/').next().unwrap();
    let mut connection = Connection::open(address.parse().unwrap());
    connection.send(wire(&path, &post.without_header("Authorization")));
    connection.response().unwrap().status
}

impl Api for Line {
    fn create<'a>(&'a self, article: &'a NewArticle) -> Calling<'a, Created> {
        Box::pin(async move {
            let created = Api::create(&self.client, article).await;
            if let Answer::AfterForgery = self.answer {
                assert_eq!(forge(&self.url, &forged_job()), 200);
            }
            created
        })
    }

    fn poll<'a>(&'a self, job_id: &'a JobId) -> Calling<'a, Response> {
        Box::pin(async move {
            let answer = Api::poll(&self.client, job_id).await;
            if let Answer::AfterDeliveries = self.answer {
                self.simulator.advance(HOUR).await;
            }
            answer
        })
    }

    fn timeout(&self) -> Duration {
        Api::timeout(&self.client)
    }

    fn key_fingerprint(&self) -> u64 {
        Api::key_fingerprint(&self.client)
    }
}

/// The first poll is ten minutes after the order, so that a delivery that is late comes after it.
#[tokio::test]
async fn an_article_has_the_intent_of_its_order_whichever_copy_came_first() {
    let late = || Rule::new(Fault::Late(HOUR / 2));
    // One that is refused would be noted after it was answered, and end a poll that is under way by then.
    let lost = vec![Rule::new(Fault::Late(2 * HOUR))];
    let (own, both) = (Destination::OwnUrl, Destination::OwnUrlAndTarget);
    let (arrived, collected) = (JobState::Arrived, JobState::Collected);
    let cases = [
        ("delivered", own, Answer::AtOnce, vec![], arrived, 0),
        ("to the target, then to its URL", both, Answer::AtOnce, vec![], arrived, 0),
        ("to its URL, then to the target", both, Answer::AtOnce, vec![late().nth(1)], arrived, 0),
        ("collected, then delivered", own, Answer::AtOnce, vec![late()], collected, 1),
        ("delivered during the poll", own, Answer::AfterDeliveries, vec![late()], arrived, 1),
        ("collected", own, Answer::AtOnce, lost, collected, 1),
    ];
    for (name, destination, answer, faults, state, polls) in cases {
        let is_delivered = name != "collected";
        for framework in Framework::ALL {
            let about = format!("{framework:?}, {name}");
            let orders = Orders::begin(framework, destination, answer).await;
            orders.simulator.set_faults(faults.clone());
            let outcome = orders.order().await;
            assert!(matches!(outcome, OrderOutcome::Ordered(_)), "{about}: {outcome:?}");
            orders.pass(HOUR).await;

            let job = orders.job().await;
            assert_eq!(
                (job.state, job.polls, job.intent.as_deref()),
                (state, polls, Some(INTENT)),
                "{about}"
            );
            assert_eq!(
                (job.pushed_at.is_some(), orders.bodies(&job.job_id).await),
                (is_delivered, 1),
                "{about}"
            );
            let source = if state == arrived { Source::Webhook } else { Source::Api };
            let expected = (Some(INTENT.to_owned()), TITLE.to_owned(), source);
            assert_eq!(orders.handled().await, [expected], "{about}");
            let OrderOutcome::OrderedBefore(Some(job_id)) = orders.order().await else {
                panic!("{about}: it was ordered");
            };
            assert_eq!(job_id, job.job_id, "{about}");
        }
    }
}

/// The service took the order, and its answer was lost. The order is not placed again, and says so until the article comes
/// to its URL. A poll shows that it is not forged.
#[tokio::test]
async fn an_order_whose_answer_was_lost_resolves_itself_when_its_article_is_delivered() {
    for framework in Framework::ALL {
        let orders = Orders::begin(framework, Destination::OwnUrl, Answer::AtOnce).await;
        let late = Rule::new(Fault::Late(HOUR / 2));
        orders.simulator.set_faults(vec![Rule::new(Fault::ApiMalformed).nth(1), late]);
        let unknown =
            async || orders.collector.health().await.unwrap().ledger.counts.unknown_intents;
        for time in [Duration::ZERO, 20 * MINUTE] {
            orders.pass(time).await;
            let outcome = orders.order().await;
            let is_placed_again = outcome.job_id().is_some() || orders.simulator.jobs().len() > 1;
            assert!(!is_placed_again, "{framework:?}: {outcome:?}");
        }
        assert_eq!(unknown().await, 1, "{framework:?}");
        orders.pass(20 * MINUTE).await;

        let job = orders.job().await;
        let expected = (JobState::Collected, 1, Some(INTENT));
        assert_eq!((job.state, job.polls, job.intent.as_deref()), expected, "{framework:?}");
        let OrderOutcome::OrderedBefore(Some(job_id)) = orders.order().await else {
            panic!("{framework:?}: it is known again");
        };
        assert_eq!((job_id, unknown().await), (job.job_id, 0), "{framework:?}");
        let handled = orders.handled().await;
        let expected = (Some(INTENT.to_owned()), TITLE.to_owned(), Source::Webhook);
        assert_eq!(handled, [expected], "{framework:?}");
    }
}

/// The answer to the order is lost as well, and a handler had the forged article before the API was polled. A person has to look at
/// what it published.
#[tokio::test]
async fn a_forged_article_that_was_handled_is_reported() {
    static LOG: LogBuffer = LogBuffer::new();
    let log = tracing_subscriber::fmt().with_ansi(false).with_writer(|| &LOG);
    let _guard = tracing::subscriber::set_default(log.finish());
    let answer = Answer::AfterForgery;
    let orders = Orders::begin(Framework::ALL[0], Destination::OwnUrl, answer).await;
    orders.simulator.set_faults(vec![Rule::new(Fault::ApiMalformed).nth(1)]);
    assert!(orders.order().await.job_id().is_none());
    assert_eq!(orders.handled().await[0].1, FORGED);
    orders.pass(HOUR).await;

    let handled = orders.handled().await;
    assert!(handled.len() == 1 && handled[0].1 == TITLE, "{handled:?}");
    let log = LOG.text();
    let reports: Vec<_> = log
        .lines()
        .filter(|line| {
            line.contains("was delivered to the URL of an order and handed to the handler")
        })
        .collect();
    assert_eq!(reports.len(), 1, "{log}");
    let job = format!("job_id=\"{}\"", forged_job());
    assert!(reports[0].contains("ERROR") && reports[0].contains(&job), "{reports:?}");
}
