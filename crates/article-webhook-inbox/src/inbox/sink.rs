use std::{sync::atomic::Ordering, time::Duration};

use article_webhook::{DecodeError, Delivery, Event, JobId, Refused, RefusedBody, Reply, Sink};
use bytes::Bytes;
use tokio::{runtime::Handle, time::Instant};

use super::Inbox;
use crate::{
    Digest, EntryKey, Error, Source,
    call::{Arrival, Expect, Quarantine, Quarantined, Recorded},
    rules::OF_ANOTHER_JOB,
    telemetry,
    timestamp::later,
};

/// When the API is polled about a job that a delivery reports as failed.
const FAILURE_POLLED_AFTER: Duration = Duration::from_secs(60);

impl Sink for Inbox {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let began = Instant::now();
        if let (Some(failure), Event::ArticleComplete) = (delivery.failure(), delivery.event()) {
            return self.accept_failure(&delivery, failure).await;
        }
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
            Ok(Recorded::OtherJob) => {
                let (job_id, intent) = (delivery.job_id().clone(), delivery.intent());
                let expect = self.refused_job(job_id, intent, "unauthorized");
                let (arrival, cause) = (Arrival::from(&delivery), OF_ANOTHER_JOB.to_owned());
                // The answer is the same whether it is kept or not.
                let kept = self.keep(arrival, cause, Some(expect), None).await;
                kept.map_or(Reply::Unavailable, |_| Reply::Unauthorized)
            }
            Ok(Recorded::BodyLimitReached) => {
                // If no body of the entry can be read, and the service gives up, the API still has the article.
                self.expect_refused(delivery.job_id().clone(), delivery.intent(), "retry_later");
                Reply::Retry
            }
            Err(error) => {
                self.readiness().failed(now, delivery.job_id(), &error);
                self.expect_refused(delivery.job_id().clone(), delivery.intent(), "unavailable");
                Reply::Unavailable
            }
        }
    }

    /// Expects the job. That is stored as soon as the store accepts it. A [body](Refused::body) is kept meanwhile.
    fn refused(&self, refused: &Refused) {
        telemetry::refused(refused);
        if let (Some(body), Ok(runtime)) = (refused.body(), Handle::try_current()) {
            let (inbox, refused, body) = (self.clone(), refused.clone(), body.clone());
            drop(runtime.spawn(async move { inbox.keep_body(&refused, &body).await }));
        }
        let Some(job_id) = refused.job_id().cloned() else { return };
        self.expect_refused(job_id, refused.intent(), refused.rejection().code());
    }

    /// Keeps the body, and expects the job.
    async fn keep_refused(&self, refused: Refused) {
        match refused.body() {
            None => self.refused(&refused),
            Some(body) => {
                telemetry::refused(&refused);
                self.keep_body(&refused, body).await;
            }
        }
    }
}

impl Inbox {
    /// Keeps a body that reports the failure of its job. The job has failed if the API says the same.
    async fn accept_failure(&self, delivery: &Delivery, failure: &DecodeError) -> Reply {
        let job_id = delivery.job_id();
        let expect = Expect {
            at: later(self.0.store.now(), FAILURE_POLLED_AFTER),
            ..self.refused_job(job_id.clone(), delivery.intent(), "unprocessable")
        };
        let statement = failure.failure().map(|word| Digest::of(word.as_bytes()));
        let (arrival, cause) = (Arrival::from(delivery), failure.to_string());
        telemetry::reports_failure(job_id, failure);
        match self.keep(arrival, cause, Some(expect), statement).await {
            Ok(Quarantined::Kept) => {
                self.readiness().stored(Instant::now().into_std());
                Reply::Stored
            }
            Ok(Quarantined::Duplicate | Quarantined::NotNeeded) => Reply::Duplicate,
            Ok(Quarantined::OtherJob { .. } | Quarantined::TooManyJobs) => Reply::Unauthorized,
            Ok(Quarantined::BudgetReached) => Reply::Retry,
            Err(_) => Reply::Unavailable,
        }
    }

    /// Keeps what the API answered about a job that is polled, and is refused for this cause.
    #[doc(hidden)]
    pub async fn keep_answer(&self, job_id: &JobId, bytes: &Bytes, cause: String) {
        let arrival = Arrival {
            key: EntryKey::article(job_id.clone()),
            source: Source::Api,
            target: "api".into(),
            intent: None,
            digest: Digest::of(bytes),
            bytes: bytes.clone(),
        };
        // The job is expected, and a failure is logged: the next poll brings the body again.
        _ = self.keep(arrival, cause, None, None).await;
    }

    async fn keep_body(&self, refused: &Refused, body: &RefusedBody) {
        let (job_id, intent) = (body.job_id(), refused.intent());
        // If header and body name different jobs, neither is taken for the one that was ordered.
        let ordered = intent.filter(|_| refused.job_id().is_some());
        let expect = self.refused_job(job_id.clone(), ordered, refused.rejection().code());
        let arrival = Arrival {
            key: EntryKey { job_id: job_id.clone(), event: body.event().clone() },
            source: Source::Webhook,
            target: body.target().into(),
            intent: intent.map(Into::into),
            digest: Digest::of(body.bytes()),
            bytes: body.bytes().clone(),
        };
        let cause = refused.rejection().to_string();
        // The answer is the refusal, whatever becomes of the body.
        _ = self.keep(arrival, cause, Some(expect), None).await;
    }

    /// Keeps a body, and expects its job. If the store fails, the job is expected as soon as the store accepts it.
    async fn keep(
        &self,
        arrival: Arrival,
        cause: String,
        expect: Option<Expect>,
        statement: Option<Digest>,
    ) -> Result<Quarantined, Error> {
        let job_id = arrival.key.job_id.clone();
        let budget = self.0.quarantine_budget.load(Ordering::Relaxed);
        let quarantine = Quarantine { arrival, cause, expect: expect.clone(), statement, budget };
        let quarantined = self.with_timeout(self.0.store.quarantine(quarantine)).await;
        telemetry::quarantined(&job_id, &quarantined);
        if let (Err(error), Some(expect)) = (&quarantined, expect) {
            let now = Instant::now().into_std();
            self.readiness().failed(now, &job_id, error);
            self.expect_later([expect]);
        }
        quarantined
    }
}
