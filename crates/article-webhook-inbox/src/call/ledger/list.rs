use std::time::{Duration, SystemTime};

use super::{ExpectedJob, JobState};
use crate::timestamp::{later, rounded};

/// Which jobs of the ledger to list, and where to begin. The default lists all, a hundred per page. A literal ends with
/// `..JobFilter::default()`, as further fields may follow.
///
/// ```
/// use article_webhook_inbox::{Inbox, JobFilter, JobState};
/// # use article_webhook_inbox::store;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
/// #     let expect = store::Expect::job("job_1".parse()?, std::time::SystemTime::UNIX_EPOCH);
/// #     inbox.ledger().expect(vec![expect]).await?; // as a collector does
///     assert_eq!(inbox.jobs(JobFilter::default()).await?.items.len(), 1);
///     let failed = JobFilter { state: Some(JobState::Failed), ..JobFilter::default() };
///     assert!(inbox.jobs(failed).await?.items.is_empty());
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a literal of it needs `..JobFilter::default()`")]
pub struct JobFilter {
    /// Only jobs in this state.
    pub state: Option<JobState>,
    /// Only jobs that were ordered with this intent.
    pub intent: Option<Box<str>>,
    /// Only jobs that are expected since a time before this one, in whole milliseconds.
    pub expected_before: Option<SystemTime>,
    /// Only jobs with a greater id: [`Page::next`](crate::Page::next) of the previous page.
    pub after: i64,
    /// Maximum number of jobs on the page.
    pub limit: u32,
    /// A literal without `..JobFilter::default()` would not compile with a version that has more fields.
    #[doc(hidden)]
    pub more: (),
}

impl JobFilter {
    /// Whether a job passes the filter. `limit` is not part of that.
    #[must_use]
    pub fn accepts(&self, job: &ExpectedJob) -> bool {
        job.id > self.after
            && self.state.is_none_or(|state| state == job.state)
            && (self.intent.is_none() || self.intent == job.intent)
            && self.expected_before.is_none_or(|before| job.expected_at < rounded(before))
    }
}

impl Default for JobFilter {
    fn default() -> Self {
        Self { state: None, intent: None, expected_before: None, after: 0, limit: 100, more: () }
    }
}

/// The figures of the ledger.
///
/// ```
/// use article_webhook_inbox::{Inbox, JobState};
/// # use article_webhook_inbox::store;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     assert_eq!(inbox.health().await.ledger?.counts.oldest_expected, None);
/// #     let expect = store::Expect::job("job_1".parse()?, std::time::SystemTime::UNIX_EPOCH);
/// #     inbox.ledger().expect(vec![expect]).await?; // as a collector does
///     let counts = inbox.health().await.ledger?.counts;
///     assert_eq!((counts.of(JobState::Expected), counts.of(JobState::Failed)), (1, 0));
///     assert_eq!((counts.open(), counts.overdue, counts.recovered), (1, 0, 0));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LedgerCounts {
    /// How many jobs are in each state, for stores: its type differs with each further state.
    #[doc(hidden)]
    pub states: [u64; JobState::ALL.len()],
    /// Since when the oldest open job is expected.
    pub oldest_expected: Option<SystemTime>,
    /// How many open jobs are expected since 72 hours or longer.
    pub overdue: u64,
    /// How many intents have an unknown outcome.
    pub unknown_intents: u64,
    /// How many jobs were collected and would not have come without that: the service delivered nothing until 400
    /// seconds after the collection. Before those have passed, a job is not counted. Where the service delivers nothing
    /// at all, the figure has no meaning.
    pub recovered: u64,
    /// Since when orders may be missing in the ledger, because it was [salvaged](crate::Inbox::orders_checked).
    pub gaps_since: Option<SystemTime>,
}

/// An open job is overdue when it is expected since this long: 72 hours. By then the service has made or given up every
/// article.
pub const OVERDUE_AFTER: Duration = Duration::from_secs(72 * 3600);

/// Section 6.2: the service's last delivery comes 370 seconds after the first.
pub const DELIVERY_PERIOD: Duration = Duration::from_secs(400);

impl LedgerCounts {
    /// How many jobs are in that state.
    #[must_use]
    pub fn of(&self, state: JobState) -> u64 {
        self.states[state as usize]
    }

    /// How many jobs are known.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.states.iter().sum()
    }

    /// How many jobs are open.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.of(JobState::Expected) + self.of(JobState::Polling)
    }

    /// Counts one more job.
    #[doc(hidden)]
    pub fn add(&mut self, job: &ExpectedJob, now: SystemTime) {
        self.states[job.state as usize] += 1;
        if job.state.is_open() {
            let oldest = self.oldest_expected.get_or_insert(job.expected_at);
            *oldest = job.expected_at.min(*oldest);
            self.overdue += u64::from(later(job.expected_at, OVERDUE_AFTER) <= now);
        }
        self.recovered += u64::from(job.was_recovered(now));
    }
}

impl ExpectedJob {
    /// Whether its article came by the collection alone, as far as that can be known now.
    #[must_use]
    pub fn was_recovered(&self, now: SystemTime) -> bool {
        let Some(collected_at) = self.collected_at else { return false };
        let limit = later(collected_at, DELIVERY_PERIOD);
        self.state == JobState::Collected
            && now >= limit
            && self.pushed_at.is_none_or(|pushed_at| pushed_at > limit)
    }
}

/// What was removed from the ledger.
///
/// ```
/// use article_webhook_inbox::LedgerPruned;
///
/// let nothing = LedgerPruned::default();
/// assert_eq!((nothing.jobs, nothing.more), (0, false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be counted
pub struct LedgerPruned {
    /// Jobs that were removed.
    pub jobs: u32,
    /// Whether there is more to remove: call again.
    pub more: bool,
}
