use std::time::SystemTime;

use article_webhook_client::JobId;
use article_webhook_inbox::{Intent, IntentState, store::Pause};

/// What became of an order.
///
/// ```
/// use article_webhook_collector::OrderOutcome;
///
/// /// What a page says about an order.
/// fn message(outcome: &OrderOutcome) -> &'static str {
///     match outcome {
///         OrderOutcome::Ordered(_) | OrderOutcome::OrderedBefore(_) => "the article will come",
///         OrderOutcome::InProgress { .. } => "it is being ordered",
///         OrderOutcome::Unknown { .. } => "it may have been ordered: look at the service, then order again or give it up",
///         OrderOutcome::Abandoned { .. } => "it was given up",
///         OrderOutcome::Refused(_) => "the service did not take it, and it may be ordered again",
///         OrderOutcome::Paused(_) => "the service asks for a pause: try again after that",
///         _ => "it is not known: look at the service",
///     }
/// }
///
/// let outcome = OrderOutcome::Ordered("job_1".parse()?);
/// assert_eq!(outcome.job_id().map(|id| id.as_str()), Some("job_1"));
/// assert_eq!(message(&outcome), "the article will come");
///
/// let outcome = OrderOutcome::OrderedBefore(None);
/// assert!(outcome.job_id().is_none(), "the job was erased");
/// # Ok::<(), article_webhook_client::InvalidJobId>(())
/// ```
#[derive(Debug)]
#[non_exhaustive] // there may be more; none is a reason to choose another intent
#[must_use]
pub enum OrderOutcome {
    /// The service took the order now, as this job, which is expected from now on.
    Ordered(JobId),
    /// The intent was ordered before, as this job, and nothing was ordered now. `None` if the job was erased since.
    OrderedBefore(Option<JobId>),
    /// An earlier call that orders has not ended, as far as is stored, and its deadline has not passed: another task or
    /// process makes it, or died while it did. From the deadline on, what is not stored is [unknown](Self::Unknown).
    #[non_exhaustive]
    InProgress {
        /// The deadline of the earlier call.
        until: SystemTime,
    },
    /// It is not known whether the service took the order. The article may still arrive. To order all the same, or to
    /// give it up, is the application's decision.
    #[non_exhaustive]
    Unknown {
        /// Since when it is unknown: when this call or an earlier one ended without a certain answer, or when the deadline
        /// of an earlier one passed.
        since: SystemTime,
        /// Why this call lost the answer. `None` for an earlier call, and for one that panicked or took too long.
        cause: Option<article_webhook_client::Error>,
    },
    /// The application gave the intent up.
    #[non_exhaustive]
    Abandoned {
        /// Since when.
        since: SystemTime,
    },
    /// The service has certainly not taken this order, or nothing was sent. The intent may be ordered again, unless an
    /// earlier call of it has an unknown outcome.
    Refused(article_webhook_client::Error),
    /// Nothing is ordered now, because the service asked for a pause or refuses the API key. Nothing was stored.
    Paused(Pause),
}

impl OrderOutcome {
    /// What an intent that was stored before says.
    pub(super) fn of_known(intent: Intent) -> Self {
        match intent.state {
            IntentState::Ordered => Self::OrderedBefore(intent.job_id),
            IntentState::Ordering => Self::InProgress { until: intent.at },
            IntentState::Abandoned => Self::Abandoned { since: intent.at },
            _ => Self::Unknown { since: intent.at, cause: None },
        }
    }

    /// The job, if the service took the order, now or before.
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        match self {
            Self::Ordered(job_id) => Some(job_id),
            Self::OrderedBefore(job_id) => job_id.as_ref(),
            _ => None,
        }
    }

    /// The name of the outcome in metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Ordered(_) => "ordered",
            Self::OrderedBefore(_) => "ordered_before",
            Self::InProgress { .. } => "in_progress",
            Self::Unknown { .. } => "unknown",
            Self::Abandoned { .. } => "abandoned",
            Self::Refused(_) => "refused",
            Self::Paused(_) => "paused",
        }
    }
}
