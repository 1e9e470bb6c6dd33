//! What reached the sinks behind the proxies.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use article_webhook::{Delivery, Refused, Reply, Sink};
use bytes::Bytes;

/// What reached the sinks of some receivers. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Reached>>);

#[derive(Debug, Default)]
struct Reached {
    deliveries: Vec<(String, Bytes)>,
    /// The jobs of authentic deliveries that were refused.
    refused: Vec<String>,
}

impl Sink for Record {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let delivery = (delivery.job_id().to_string(), delivery.body().clone());
        self.with(|reached| reached.deliveries.push(delivery));
        Reply::Stored
    }

    fn refused(&self, refused: &Refused) {
        let job_id = refused.job_id().map(ToString::to_string).unwrap_or_default();
        self.with(|reached| reached.refused.push(job_id));
    }
}

impl Record {
    fn with<T>(&self, work: impl FnOnce(&mut Reached) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The bodies of this job's deliveries since the last time.
    pub(crate) fn take(&self, job_id: &str) -> Vec<Bytes> {
        self.with(|reached| {
            let of_job = reached.deliveries.extract_if(.., |(id, _)| id == job_id);
            of_job.map(|(_, body)| body).collect()
        })
    }

    /// The jobs of all deliveries that were not taken.
    pub(crate) fn others(&self) -> Vec<String> {
        self.with(|reached| reached.deliveries.iter().map(|(id, _)| id.clone()).collect())
    }

    /// Whether the refusal of a delivery of this job reaches a sink within this time.
    pub(crate) fn is_notified_of(&self, job_id: &str, within: Duration) -> bool {
        let end = Instant::now() + within;
        loop {
            if self.with(|reached| reached.refused.iter().any(|id| id == job_id)) {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}
