use std::{fmt, time::SystemTime};

use article_webhook::JobId;

use super::Topic;
use crate::Digest;

/// What the ledger knows about the article of a job.
///
/// `Expected` and `Polling` are open. The others are ends: nothing is polled, until the job is opened again.
///
/// | state | what opens it again |
/// |---|---|
/// | `arrived`, `collected` | its entry becomes unhandled or corrupt |
/// | `failed`, `unreadable`, `not_found` | it is expected again, other than by a backfill; its article ends it as `arrived` |
///
/// ```
/// use article_webhook_inbox::JobState;
///
/// assert!(JobState::Polling.is_open() && !JobState::NotFound.is_open());
/// assert_eq!(JobState::from_name("not_found"), Some(JobState::NotFound));
/// assert_eq!(JobState::from_name("done"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive] // there may be more states
pub enum JobState {
    /// Its article is not there, or came to the URL of an order whose answer is not known, so that it may be forged. The job is polled
    /// when the time comes.
    #[default]
    Expected,
    /// A poll holds the lease.
    Polling,
    /// The service delivered its article.
    Arrived,
    /// The API gave its article.
    Collected,
    /// The service gave the job up, and the application is notified.
    Failed,
    /// The API has given nothing but bodies that no worker can read, for 72 hours.
    Unreadable,
    /// The service does not know the job.
    NotFound,
}

impl JobState {
    /// All states.
    pub const ALL: &'static [Self] = &[
        Self::Expected,
        Self::Polling,
        Self::Arrived,
        Self::Collected,
        Self::Failed,
        Self::Unreadable,
        Self::NotFound,
    ];

    /// Whether the article is still missing, and will be polled.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Expected | Self::Polling)
    }

    /// Whether the article is in the inbox, or was.
    #[must_use]
    pub fn has_article(self) -> bool {
        matches!(self, Self::Arrived | Self::Collected)
    }

    /// The name of the state in databases, logs and tools.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Polling => "polling",
            Self::Arrived => "arrived",
            Self::Collected => "collected",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
            Self::NotFound => "not_found",
        }
    }
}

named!(JobState, "not a state of a job");

/// Why a job is expected.
///
/// ```
/// use article_webhook_inbox::Reason;
///
/// let refused = Reason::Refused { code: "malformed_json".into() };
/// assert_eq!(refused.to_string(), "refused: malformed_json");
/// assert_eq!("refused: malformed_json".parse::<Reason>()?, refused);
/// assert!("because".parse::<Reason>().is_err());
/// assert!(Reason::Ordered.is_order() && !refused.is_order());
/// # Ok::<(), article_webhook_inbox::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // there may be more reasons
pub enum Reason {
    /// It was ordered with an intent.
    Ordered,
    /// The application reported that it was ordered elsewhere.
    OrderedElsewhere,
    /// The application named it among many old ones. It is polled when no other job is due.
    Backfill,
    /// An authentic delivery was refused or could not be stored.
    // Its text has the code and nothing else, so there can be no other field.
    Refused {
        /// The code of the refusal, such as `malformed_json`, or `unavailable`.
        code: Box<str>,
    },
    /// The job was not expected. Its article came, and retention removed the entry.
    Delivered,
}

impl Reason {
    /// Whether the job is expected since about the time when it was ordered. Of a job that was refused or that a backfill
    /// named, that time is not known.
    #[must_use]
    pub fn is_order(&self) -> bool {
        matches!(self, Self::Ordered | Self::OrderedElsewhere)
    }
}

/// How the text of a refusal begins.
const REFUSED: &str = "refused: ";

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ordered => f.write_str("ordered"),
            Self::OrderedElsewhere => f.write_str("ordered_elsewhere"),
            Self::Backfill => f.write_str("backfill"),
            Self::Delivered => f.write_str("delivered"),
            Self::Refused { code } => write!(f, "{REFUSED}{code}"),
        }
    }
}

impl std::str::FromStr for Reason {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self, crate::Error> {
        match text {
            "ordered" => Ok(Self::Ordered),
            "ordered_elsewhere" => Ok(Self::OrderedElsewhere),
            "backfill" => Ok(Self::Backfill),
            "delivered" => Ok(Self::Delivered),
            other => match other.strip_prefix(REFUSED) {
                Some(code) => Ok(Self::Refused { code: code.into() }),
                None => Err(crate::Error::invalid("not a reason to expect a job")),
            },
        }
    }
}

/// A job to expect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct Expect {
    /// The job.
    pub job_id: JobId,
    /// Why it is expected.
    pub reason: Reason,
    /// The intent that it was ordered with. If the ledger has it and does not know its job, it became this one.
    pub intent: Option<Box<str>>,
    /// When it is polled first.
    pub at: SystemTime,
    /// The API key that it was ordered with, as [`BucketSettings::key`](super::BucketSettings::key) names it. `None` if that
    /// is not known.
    pub key: Option<u64>,
}

impl Expect {
    /// A job that the application expects, and polls first at that time.
    #[must_use]
    pub fn job(job_id: JobId, at: SystemTime) -> Self {
        Self { job_id, reason: Reason::OrderedElsewhere, intent: None, at, key: None }
    }
}

/// How often in a row the service did not know a job, and since when.
///
/// ```
/// use article_webhook_inbox::{Inbox, JobFilter, JobState};
/// # use article_webhook_inbox::store::{PollClaim, PollOutcome, BucketSettings, Expect};
/// # use std::time::{Duration, SystemTime};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
/// #     let bucket = BucketSettings { per_minute: 30, burst: 5, key: 1 };
/// #     let claim = PollClaim { limit: 1, lease: Duration::from_secs(60), bucket };
/// #     inbox.ledger().expect(vec![Expect::job("job_1".parse()?, SystemTime::UNIX_EPOCH)]).await?;
/// #     for _ in 0..2 {
/// #         let poll = inbox.ledger().claim_polls(claim).await?.polls.remove(0);
/// #         let missing = PollOutcome::Missing { after: Duration::ZERO, cause: "job_not_found".into() };
/// #         inbox.ledger().settle_poll(poll.lease, missing, 1).await?;
/// #     }
///     // A collector polled the job twice, and the service did not know it.
///     let job = inbox.jobs(JobFilter::default()).await?.items.remove(0);
///     assert_eq!(job.missing.map(|missing| missing.times), Some(2));
///     assert_eq!(job.state, JobState::Expected, "no number of such answers ends it");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive] // more may be known
pub struct Missing {
    /// How often.
    pub times: u32,
    /// When the service first answered so.
    #[serde(with = "crate::codec::millis")]
    pub since: SystemTime,
}

impl Missing {
    #[doc(hidden)]
    #[must_use]
    pub fn new(times: u32, since: SystemTime) -> Self {
        Self { times, since }
    }
}

/// A job of the ledger: its article is expected, or was.
///
/// ```
/// use article_webhook_inbox::{Inbox, JobFilter, JobState, Reason};
/// use article_webhook::{Sink, fixture};
/// # use article_webhook_inbox::store;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
/// #     let expect = store::Expect::job("job_1".parse()?, std::time::SystemTime::UNIX_EPOCH);
/// #     inbox.ledger().expect(vec![expect]).await?; // as a collector does
///     let job = inbox.jobs(JobFilter::default()).await?.items.remove(0);
///     assert_eq!((job.state, job.reason, job.polls), (JobState::Expected, Reason::OrderedElsewhere, 0));
///
///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
///     let job = inbox.jobs(JobFilter::default()).await?.items.remove(0);
///     assert_eq!(job.state, JobState::Arrived);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be known of a job
pub struct ExpectedJob {
    /// The number of the job in its store. Numbers ascend and are never reused.
    pub id: i64,
    /// The job.
    pub job_id: JobId,
    /// What is known about its article.
    pub state: JobState,
    /// Why it is expected.
    pub reason: Reason,
    /// The intent that it was ordered with.
    pub intent: Option<Box<str>>,
    /// What was ordered with that intent. `None` if that is not known.
    pub topic: Option<Topic>,
    /// Since when it is expected: since it was stored, or opened again.
    pub expected_at: SystemTime,
    /// Expected: when it is polled. Polling: when the lease ends. Otherwise: when it ended.
    pub at: SystemTime,
    /// How many polls began since it is expected.
    pub polls: u32,
    /// A number that stands for the API key that it was ordered with, or with which the service reported its state last. `None`
    /// before either.
    pub key: Option<u64>,
    /// How often in a row the service did not know it, when it was polled with that key or none is known.
    pub missing: Option<Missing>,
    /// When the service delivered its article first.
    pub pushed_at: Option<SystemTime>,
    /// When the API gave its article.
    pub collected_at: Option<SystemTime>,
    /// When the API gave the first of the bodies that no worker can read, since the service last worked on it.
    pub unreadable_since: Option<SystemTime>,
    /// What the last answer about the job reported, if it ends the job once another reports the same: the digest of the draft of
    /// an article, or of the word for a failure.
    pub unconfirmed: Option<Digest>,
    /// What the service reported of a job that is not complete, why the last poll brought no article, or why it ended without
    /// one; or the refusal of a delivery since then, as [`Reason::Refused`] is shown. It may contain what the service answered;
    /// log events of this crate never do.
    pub cause: Option<String>,
}
