use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::timestamp::{from_millis, to_millis};

/// How many failures are kept of one entry.
pub const MAX_FAILURES: usize = 8;

/// Why an entry did not become done, and when: a handler failed, an attempt ended without a result, or no body is an
/// article. An entry keeps its last [`MAX_FAILURES`].
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{Failure, store::{Claim, ClaimDecision, Claiming, Events, Outcome, Row}};
///
/// let now = SystemTime::UNIX_EPOCH;
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8, running: 0, events: Events::All, retries_first: false };
/// let mut entry = Row::new(now);
/// let Some(ClaimDecision::Leased { lease, .. }) = Claiming::new(claim, now).decide(7, &mut entry) else {
///     panic!("attempts are left")
/// };
/// assert!(entry.failures.is_empty(), "an attempt that goes on has not failed");
///
/// let retry = Outcome::Retry { after: Duration::from_secs(10), cause: "the blog is down".into() };
/// entry.settle(lease, &retry, 1, now);
/// assert_eq!(entry.failures, [Failure { at: now, attempt: 1, cause: "the blog is down".into() }]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct Failure {
    /// When it was stored.
    #[serde(with = "crate::codec::millis")]
    pub at: SystemTime,
    /// How many attempts of the entry counted then. An attempt that found no article does not count.
    pub attempt: u32,
    /// Why. If the handler returned an error, the cause is that error. Log events of this crate never contain it.
    pub cause: String,
}

/// A failure in JSON, as databases and exports keep it. The time is milliseconds since 1970.
#[derive(Serialize, Deserialize)]
pub(crate) struct FailureLine {
    pub(crate) at: u64,
    attempt: u32,
    cause: String,
}

impl From<Failure> for FailureLine {
    fn from(Failure { at, attempt, cause }: Failure) -> Self {
        Self { at: to_millis(at).unsigned_abs(), attempt, cause }
    }
}

impl From<FailureLine> for Failure {
    fn from(FailureLine { at, attempt, cause }: FailureLine) -> Self {
        Self { at: from_millis(i64::try_from(at).unwrap_or(i64::MAX)), attempt, cause }
    }
}
