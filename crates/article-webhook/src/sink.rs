use std::{future::Future, sync::Arc};

use crate::{Answer, Delivery, JobId, Refused, Reply, answer::Code, log};

/// Where deliveries go that were let in: a store, a queue, an inbox.
///
/// An async closure over a delivery is a sink; so is an `Arc` of one. The adapters' `receive`
/// mounts a sink and answers the service with its [`Reply`], in a task of its own, so that a sender
/// who hangs up cannot cut the work in half.
///
/// ```
/// use article_webhook::{Delivery, Reply, Sink};
///
/// fn a_sink(_: &impl Sink) {}
/// a_sink(&async |delivery: Delivery| {
///     if delivery.job_id().as_str() == "seen" { Reply::Duplicate } else { Reply::Stored }
/// });
/// ```
pub trait Sink: Send + Sync {
    /// Takes a delivery and says what became of it. [`Reply::Stored`] is a promise: say it only
    /// once the delivery would survive a crash.
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send;

    /// Hears of every authentic delivery that was refused, with the job as far as it is known: a
    /// reason to ask the API for it later. Must not block. Does nothing by default.
    fn refused(&self, refused: &Refused) {
        let _ = refused;
    }
}

impl<F, Fut> Sink for F
where
    F: Fn(Delivery) -> Fut + Send + Sync,
    Fut: Future<Output = Reply> + Send,
{
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send {
        self(delivery)
    }
}

impl<S: Sink> Sink for Arc<S> {
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send {
        S::accept(self, delivery)
    }

    fn refused(&self, refused: &Refused) {
        S::refused(self, refused);
    }
}

/// A sink that gave no reply. The service is told to come again; nothing is lost.
///
/// ```
/// use article_webhook::{JobId, SinkFailure};
///
/// let job_id: JobId = "job_1".parse()?;
/// assert_eq!(SinkFailure::Panicked.answer(&job_id).status(), 500);
/// assert_eq!(SinkFailure::Late.answer(&job_id).status(), 503);
/// # Ok::<(), article_webhook::InvalidJobId>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // a task can end in few ways, but not necessarily in two
pub enum SinkFailure {
    /// 500: it panicked, or its task was taken down.
    #[error("the sink panicked")]
    Panicked,
    /// 503: it took longer than [`sink_deadline`](crate::Receiver::sink_deadline). Its work goes on.
    #[error("the sink did not reply in time")]
    Late,
}

impl SinkFailure {
    /// What goes back to the sender; the failure is logged with the feature `tracing`.
    ///
    /// ```
    /// # use article_webhook::{JobId, SinkFailure};
    /// let job_id: JobId = "job_1".parse()?;
    /// assert!(SinkFailure::Late.answer(&job_id).body().contains("unavailable"));
    /// # Ok::<(), article_webhook::InvalidJobId>(())
    /// ```
    #[must_use]
    pub fn answer(self, job_id: &JobId) -> Answer {
        log::sink_failed(self, job_id);
        Answer::new(match self {
            Self::Panicked => Code::Internal,
            Self::Late => Code::Unavailable,
        })
    }
}
