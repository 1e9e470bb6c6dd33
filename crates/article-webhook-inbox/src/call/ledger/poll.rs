use std::{
    fmt,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use bytes::Bytes;

use super::{BucketSettings, ExpectedJob, JobState};
use crate::Digest;

/// The right to poll a job until a point in time. It is no [`Lease`](crate::store::Lease) of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a job and a fence are the whole proof")]
pub struct PollLease {
    /// The [id](ExpectedJob::id) of the job.
    pub id: i64,
    /// The number of this poll. It grows with each claim of the job.
    pub fence: i64,
}

/// The parameters of a claim of polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct PollClaim {
    /// Maximum number of polls.
    pub limit: u32,
    /// How long the leases last: longer than a call to the API may take.
    pub lease: Duration,
    /// The bucket that each poll takes a token from.
    pub bucket: BucketSettings,
}

/// A job that is to be polled now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Poll {
    /// The lease.
    pub lease: PollLease,
    /// The job. Its [`polls`](ExpectedJob::polls) include this one.
    pub job: ExpectedJob,
}

/// The result of a claim of polls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Polls {
    /// The jobs to poll.
    pub polls: Vec<Poll>,
    /// When another claim can bring a poll: a job that was not claimed now is due then, and the bucket has a token.
    /// `None` if there is no such job.
    pub next: Option<SystemTime>,
}

/// What the API answered about a job, as it came.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct ApiAnswer {
    /// The label that its body gets as [`Body::target`](crate::Body::target).
    pub target: Box<str>,
    /// The SHA-256 of the bytes.
    pub digest: Digest,
    /// The body as it was received.
    pub bytes: Bytes,
}

/// Shows the number of bytes, and never the bytes.
impl fmt::Debug for ApiAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiAnswer")
            .field("target", &self.target)
            .field("digest", &self.digest)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// The outcome of a poll: what becomes of its job.
///
/// No number of polls ends a job. The caller decides when the service has been polled often enough for a job that it does
/// not know, and then says [`NotFound`](Self::NotFound).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store that erases an outcome must not compile")]
pub enum PollOutcome {
    /// The article. It is recorded as a delivery is.
    Answered(ApiAnswer),
    /// The service gave the job up. The answer is recorded under [`EntryKey::failure`](crate::EntryKey::failure).
    Failed {
        /// What the API answered.
        answer: ApiAnswer,
        /// Why, in short.
        cause: String,
    },
    /// The job ends as not found.
    NotFound {
        /// What the service answered.
        cause: String,
    },
    /// The service works on the job. It is polled again after a pause.
    Unfinished {
        /// The pause.
        after: Duration,
        /// What the service answered.
        cause: String,
    },
    /// The service reported what ends the job only if it reports it again. It is polled again after a pause.
    Unconfirmed {
        /// The pause.
        after: Duration,
        /// What the service answered.
        cause: String,
        /// The digest of what it must report again: [`ExpectedJob::unconfirmed`] until then.
        statement: Digest,
    },
    /// The service gave a body of the job that is refused, as a delivery of it would be. It is polled again after a pause. A
    /// job of which nothing else came for 72 hours ends as unreadable.
    Rejected {
        /// The pause.
        after: Duration,
        /// What is wrong with the body.
        cause: String,
    },
    /// The service does not know the job with this key. It is polled again after a pause. If the service knows the job
    /// with [another key](ExpectedJob::key), this says nothing about the job, and is not counted.
    Missing {
        /// The pause.
        after: Duration,
        /// What the service answered.
        cause: String,
    },
    /// The poll failed, and nothing is known about the job. It is polled again after a pause.
    Again {
        /// The pause.
        after: Duration,
        /// Why the poll failed.
        cause: String,
    },
    /// The poll was not sent. It does not count, and its job is due now. The token is lost.
    Released,
}

impl PollOutcome {
    /// Whether the service answered something about the job, so that it is one of its jobs.
    #[must_use]
    pub fn knows_the_job(&self) -> bool {
        match self {
            Self::Answered(_)
            | Self::Failed { .. }
            | Self::Unfinished { .. }
            | Self::Unconfirmed { .. }
            | Self::Rejected { .. } => true,
            Self::NotFound { .. } | Self::Missing { .. } | Self::Again { .. } | Self::Released => {
                false
            }
        }
    }
}

/// Whether the outcome of a poll was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a collector handles every result")]
pub enum PollSettled {
    /// The result was stored, and its job is in this state now.
    Settled(JobState),
    /// The same, and it shows that the article of a job came to the URL of an order that is not its own. A handler may have had it.
    OtherHandled {
        /// The state of the job that was polled.
        state: JobState,
        /// The job whose article it was.
        other: JobId,
    },
    /// The lease no longer held: it ended, the article came meanwhile, or the job was erased. Nothing changed.
    LostLease,
}
