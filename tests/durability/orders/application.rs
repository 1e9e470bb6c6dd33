//! The child: an inbox with a worker and a collector. It orders what its customers want.

use std::{fs, time::Duration};

use article_webhook_client::{ApiKey, Client, NewArticle};
use article_webhook_collector::{Collector, Schedule};
use article_webhook_inbox::{Inbox, State};
use axum::{Router, extract::Path, http::StatusCode, routing::get};
use tokio::sync::watch;

use super::api;
use crate::role::{self, Failure, until};

/// The rate of polls.
pub(crate) const PER_MINUTE: u32 = 1200;
const BURST: u32 = 20;

pub(crate) async fn serve(stopped: watch::Receiver<()>) -> Result<(), Failure> {
    let inbox = Inbox::open(role::FILE).await?;
    let client = Client::builder(ApiKey::new(api::KEY)?, &fs::read_to_string(api::FILE)?);
    let client = client.timeout(Duration::from_secs(5)).build()?;
    let collector = Collector::builder(&inbox, client)
        .schedule(Schedule::new(Duration::from_millis(10), Duration::from_millis(100))?)
        .rate(PER_MINUTE, BURST)
        .concurrency(8)
        .build()?;
    let worker = inbox.worker(|_| async { Ok(()) }).attempts(100);
    let worker = worker.backoff(Duration::from_millis(10), Duration::from_millis(50));
    let door = role::serve(door(&inbox, &collector), inbox.clone(), stopped.clone());
    let (served, worked, collected) =
        tokio::join!(door, worker.run(until(stopped.clone())), collector.run(until(stopped)),);
    served?;
    worked?;
    collected?;
    Ok(inbox.close().await?)
}

/// `/orders/{intent}` orders an article: 200 and the job, 409 if the outcome is unknown, 503 if nothing was ordered.
/// `/open` says how many articles are missing or waiting.
fn door(inbox: &Inbox, collector: &Collector) -> Router {
    let (orders, figures, inbox) = (collector.clone(), collector.clone(), inbox.clone());
    let order = async move |Path(intent): Path<String>| {
        use article_webhook_collector::OrderOutcome::{Paused, Refused};

        match orders.order(&intent, &NewArticle::new(&intent)).await {
            Ok(outcome) => match (outcome.job_id(), &outcome) {
                (Some(job_id), _) => (StatusCode::OK, job_id.to_string()),
                (None, Paused(_) | Refused(_)) => {
                    (StatusCode::SERVICE_UNAVAILABLE, format!("{outcome:?}"))
                }
                (None, _) => (StatusCode::CONFLICT, format!("{outcome:?}")),
            },
            Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        }
    };
    let open = async move || {
        let counts = async {
            // A job first: when it is no longer missing, its entry is there to be counted.
            let missing = figures.health().await?.ledger.counts.open();
            let entries = inbox.counts().await?;
            let unfinished = entries.of(State::Waiting) + entries.of(State::Leased);
            Ok::<_, article_webhook_inbox::Error>(missing + unfinished)
        };
        counts.await.map_or_else(|error| error.to_string(), |open| open.to_string())
    };
    Router::new().route("/orders/{intent}", get(order)).route("/open", get(open))
}
