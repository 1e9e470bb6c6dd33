use std::time::Duration;

use article_webhook::{Sink, fixture::TOKEN};
use article_webhook_client::{ApiKey, Client, Complete, Created, JobId, JobStatus, NewArticle};
use article_webhook_simulator::{Simulator, SimulatorBuilder, SimulatorClock};
use article_webhook_tests::serve::Framework;

use crate::shop::Shop;

pub(crate) const KEY: &str = "sk-end-to-end";

/// A service, a shop with a receiver, and a client, on a stepped clock.
pub(crate) struct Story {
    pub(crate) simulator: Simulator,
    pub(crate) shop: Shop,
    pub(crate) client: Client,
    /// In front of the receiver's routes.
    pub(crate) url: String,
}

impl Story {
    /// The brand's publish target is the receiver.
    pub(crate) async fn begin(framework: Framework, settings: SimulatorBuilder) -> Self {
        let shop = Shop::default();
        let url = serve(framework, shop.clone());
        let target = format!("{url}/articles");
        let simulator = settings
            .seed(7)
            .clock(SimulatorClock::stepped())
            .api_key(KEY)
            .publish_target(&target, TOKEN)
            .start()
            .await
            .expect("there is a free port");
        let client = client(&simulator, KEY);
        Self { simulator, shop, client, url }
    }

    pub(crate) async fn order(&self, article: &NewArticle) -> JobId {
        let Created { job_id, .. } =
            self.client.create_article(article).await.expect("the service takes orders");
        job_id
    }

    /// Moves the clock to the moment before the job is done.
    pub(crate) async fn generate(&self, job_id: &JobId) {
        let job = self.simulator.job(job_id.as_str()).expect("the job was ordered");
        let moment = job.ends_at - self.simulator.now() - Duration::from_millis(1);
        self.simulator.advance(moment).await;
    }

    /// When the service tried to deliver the job, in seconds since the first time, and what it was answered.
    pub(crate) fn attempts(&self) -> Vec<(u64, Option<u16>)> {
        let attempts = self.simulator.attempts();
        let first = attempts.first().map(|attempt| attempt.at).unwrap_or_default();
        let attempts = attempts.iter().map(|attempt| {
            let status = attempt.outcome.answer.as_ref().ok().map(|answer| answer.status.as_u16());
            ((attempt.at - first).as_secs(), status)
        });
        attempts.collect()
    }

    pub(crate) async fn complete(&self, job_id: &JobId) -> Complete {
        match self.client.article(job_id).await.expect("the service knows the job") {
            JobStatus::Complete(complete) => *complete,
            JobStatus::Unfinished(job) => panic!("the job is {:?}", job.status),
        }
    }
}

/// Serves a sink until the process ends. The answer is what stands in front of both routes.
pub(crate) fn serve(framework: Framework, sink: impl Sink + Clone + 'static) -> String {
    format!("http://{}/webhooks", framework.serve(sink))
}

/// A client that does not wait long: the clock that counts is the service's.
pub(crate) fn client(simulator: &Simulator, key: &str) -> Client {
    let key = ApiKey::new(key).expect("the key is a legal one");
    let soon = Duration::from_millis(1);
    let client = Client::builder(key, &simulator.base_url()).pauses(soon, soon).build();
    client.expect("the base URL is a legal one")
}
