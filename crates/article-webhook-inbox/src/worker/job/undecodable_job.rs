use std::{fmt, sync::Arc, time::SystemTime};

use article_webhook::{Event, JobId};

use crate::{
    Body, Error, Source,
    call::{Claimed, Completion, Lease},
    store::Ledger,
};

/// One attempt at a delivery that is no article to this version: the argument of the handler of
/// [`Worker::on_undecodable`](crate::Worker::on_undecodable).
///
/// ```
/// use article_webhook_inbox::{Failed, Inbox, State, UndecodableJob};
/// use article_webhook::{Sink, fixture::DeliveryRequest};
///
/// async fn hand_over(job: UndecodableJob) -> Result<(), Failed> {
///     assert_eq!(job.event().as_str(), "article.complete");
///     assert_eq!(job.cause(), "article: expected an object, found nothing");
///     match job.body().len() {
///         0..1000 => Ok(()),
///         _ => Err(Failed::dead("it is too long")),
///     }
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     for (job, note) in [("job_1", "short".to_owned()), ("job_2", "x".repeat(1000))] {
///         let body = format!("{{\"job_id\":\"{job}\",\"status\":\"complete\",\"note\":\"{note}\"}}");
///         inbox.accept(DeliveryRequest::new(body).job_id(job).delivery()?).await;
///     }
///     inbox.worker(|_| async { Ok(()) }).on_undecodable(hand_over).run_until_idle().await?;
///     let counts = inbox.counts().await?;
///     assert_eq!((counts.of(State::Done), counts.of(State::Dead)), (1, 1));
///     Ok(())
/// }
/// ```
pub struct UndecodableJob {
    lease: Lease,
    job_id: JobId,
    event: Event,
    attempt: u32,
    received_at: SystemTime,
    cause: String,
    body: Body,
    store: Arc<dyn Ledger>,
}

impl UndecodableJob {
    pub(crate) fn new(claimed: Claimed, body: Body, cause: String, store: Arc<dyn Ledger>) -> Self {
        let Claimed { lease, key, attempt, received_at, .. } = claimed;
        Self {
            lease,
            job_id: key.job_id,
            event: key.event,
            attempt,
            received_at,
            cause,
            body,
            store,
        }
    }

    /// The job. With the [event](Self::event) it is the idempotency key, because a handler may run more than once for it.
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// The event that was delivered.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The number of this attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The label of the publish target whose token the sender presented.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.body.target
    }

    /// How the body reached the inbox.
    #[must_use]
    pub fn source(&self) -> Source {
        self.body.source
    }

    /// When the first body of the entry was stored.
    #[must_use]
    pub fn received_at(&self) -> SystemTime {
        self.received_at
    }

    /// Why it is no article.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// The first body of the entry, as it was received.
    #[allow(clippy::missing_panics_doc, reason = "such a job has a body with bytes")]
    #[must_use]
    pub fn body(&self) -> &bytes::Bytes {
        self.body.bytes.as_ref().expect("such a job has a body with bytes")
    }

    /// A statement that completes this job in a transaction of your own, as [`Job::completion`](crate::Job::completion).
    ///
    /// # Errors
    ///
    /// As for [`Job::completion`](crate::Job::completion).
    pub fn completion(&self) -> Result<Completion, Error> {
        self.store.completion(self.lease)
    }
}

impl fmt::Debug for UndecodableJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UndecodableJob")
            .field("job_id", &self.job_id)
            .field("event", &self.event)
            .field("attempt", &self.attempt)
            .field("lease", &self.lease)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}
