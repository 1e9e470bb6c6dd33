use article_webhook::{Delivery, Refused, Reply, Sink};
use tokio::time::Instant;

use super::Inbox;
use crate::{
    call::{Arrival, Recorded},
    telemetry,
};

impl Sink for Inbox {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let began = Instant::now();
        let arrival = Arrival::from(&delivery);
        let digest = arrival.digest;
        let recorded = self.with_timeout(self.0.store.record(arrival)).await;
        telemetry::recorded(&delivery, digest, &recorded, began.elapsed());
        let now = Instant::now().into_std();
        match recorded {
            Ok(Recorded::Stored | Recorded::Arrived { .. }) => {
                self.readiness().stored(now);
                self.0.workers.wake();
                self.watch_for_workers();
                Reply::Stored
            }
            Ok(Recorded::Conflict { kept: true }) => {
                self.readiness().stored(now);
                Reply::Duplicate
            }
            Ok(Recorded::Duplicate | Recorded::Conflict { kept: false }) => Reply::Duplicate,
            Ok(Recorded::BodyLimitReached) => {
                // If no body of the entry can be read, and the service gives up, the API still has the article.
                self.expect_refused(delivery.job_id().clone(), delivery.intent(), "retry_later");
                Reply::Retry
            }
            Err(error) => {
                self.readiness().failed(now, delivery.job_id(), &error.to_string());
                self.expect_refused(delivery.job_id().clone(), delivery.intent(), "unavailable");
                Reply::Unavailable
            }
        }
    }

    /// Expects the job. That is stored as soon as the store accepts it.
    fn refused(&self, refused: &Refused) {
        telemetry::refused(refused);
        let Some(job_id) = refused.job_id().cloned() else { return };
        self.expect_refused(job_id, refused.intent(), refused.rejection().code());
    }
}
