//! Expects many old jobs at once.

use std::{fmt, time::Duration};

use article_webhook_client::JobId;
use article_webhook_inbox::{
    EntryKey, Error, JobState, Reason, State,
    store::{Expect, Store},
};

use crate::shared::Shared;

/// How many jobs one call of the store takes.
const MAX_JOBS_PER_CALL: usize = 500;

/// What a backfill did.
///
/// ```
/// use article_webhook_collector::Backfilled;
///
/// fn named(done: Backfilled) -> u64 {
///     done.to_poll + done.has_article + done.given_up
/// }
/// assert_eq!(named(Backfilled::default()), 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be counted
pub struct Backfilled {
    /// Jobs that will be polled, one after the other at the rate.
    pub to_poll: u64,
    /// Jobs whose article is in the inbox, or was.
    pub has_article: u64,
    /// Jobs that failed, are unreadable or were not found. They stay so: [`Collector::expect`](crate::Collector::expect)
    /// opens one.
    pub given_up: u64,
}

/// What a backfill would do.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_collector::BackfillPlan;
///
/// fn is_worth_it(plan: BackfillPlan) -> bool {
///     plan.no_trace > 0 && plan.takes < Duration::from_secs(3600)
/// }
/// assert!(!is_worth_it(BackfillPlan::default()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be counted
pub struct BackfillPlan {
    /// Jobs that would be polled.
    pub to_poll: u64,
    /// Jobs whose article is in the inbox, or was.
    pub has_article: u64,
    /// Jobs that failed, are unreadable or were not found, and would stay so.
    pub given_up: u64,
    /// Jobs that left no trace here: neither a delivery nor an expectation. They are among those that would be polled.
    pub no_trace: u64,
    /// How long the polls take, with a full bucket and if nothing else is polled.
    pub takes: Duration,
}

/// A backfill that did not reach its end. What was expected before that stays: the same ids again change nothing, or
/// leave out as many as are [`done`](Self::done).
///
/// ```
/// use article_webhook_client::{ApiKey, Client};
/// use article_webhook_collector::Collector;
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let client = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://127.0.0.1:1")?;
///     let inbox = Inbox::memory();
///     let collector = Collector::new(&inbox, client);
///     let ids = ["job_1".parse()?, "job_2".parse()?];
///     assert_eq!(collector.expect_all(ids.clone()).await?.to_poll, 2);
///
///     inbox.close().await?;
///     let stopped = collector.expect_all(ids).await.unwrap_err();
///     assert_eq!(stopped.done, 0);
///     assert_eq!(stopped.to_string(), "the backfill stopped after 0 jobs: the inbox is closed");
///     Ok(())
/// }
/// ```
#[non_exhaustive] // more may be reported
pub struct BackfillStopped {
    /// How many of the ids are expected, counted from the first.
    pub done: u64,
    /// Why it stopped.
    pub error: Error,
}

impl fmt::Display for BackfillStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the backfill stopped after {} jobs: {}", self.done, self.error)
    }
}

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for BackfillStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&article_webhook::adapter::Causes::of(self), f)
    }
}

impl std::error::Error for BackfillStopped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

pub(crate) async fn expect_all(
    shared: &Shared,
    ids: impl Iterator<Item = JobId>,
) -> Result<Backfilled, BackfillStopped> {
    let mut backfilled = Backfilled::default();
    let begin = shared.ledger.now();
    let mut ids = ids.peekable();
    while ids.peek().is_some() {
        let batch =
            ids.by_ref().take(MAX_JOBS_PER_CALL).zip(backfilled.to_poll..).map(|(id, index)| {
                // Due when the bucket would have a token for it, so that no other job that is due waits for all of these.
                let at = begin + shared.settings.time_of_tokens(index + 1);
                Expect { reason: Reason::Backfill, ..Expect::job(id, at) }
            });
        let done = backfilled.to_poll + backfilled.has_article + backfilled.given_up;
        let states = shared.ledger.expect(batch.collect()).await;
        for state in states.map_err(|error| BackfillStopped { done, error })? {
            match Trace::of(state) {
                Trace::Article => backfilled.has_article += 1,
                Trace::GivenUp => backfilled.given_up += 1,
                Trace::Open | Trace::None => backfilled.to_poll += 1,
            }
        }
        shared.wake.notify_one();
    }
    Ok(backfilled)
}

pub(crate) async fn plan(
    shared: &Shared,
    ids: impl Iterator<Item = JobId>,
) -> Result<BackfillPlan, Error> {
    let mut plan = BackfillPlan::default();
    for id in ids {
        match trace(&*shared.ledger, id).await? {
            Trace::Article => plan.has_article += 1,
            Trace::GivenUp => plan.given_up += 1,
            Trace::Open => plan.to_poll += 1,
            Trace::None => {
                plan.to_poll += 1;
                plan.no_trace += 1;
            }
        }
    }
    plan.takes = shared.settings.time_of_tokens(plan.to_poll);
    Ok(plan)
}

/// What this store knows about a job.
enum Trace {
    Article,
    /// It ended without an article.
    GivenUp,
    /// Its article is expected, or no worker can read what came.
    Open,
    None,
}

impl Trace {
    fn of(state: JobState) -> Self {
        match state {
            state if state.has_article() => Self::Article,
            state if state.is_open() => Self::Open,
            _ => Self::GivenUp,
        }
    }
}

async fn trace(ledger: &dyn Store, id: JobId) -> Result<Trace, Error> {
    if let Some(job) = ledger.job(id.clone()).await? {
        return Ok(Trace::of(job.state));
    }
    Ok(match ledger.show(EntryKey::article(id)).await? {
        Some((entry, _)) if matches!(entry.state, State::Unhandled | State::Corrupt) => Trace::Open,
        Some(_) => Trace::Article,
        None => Trace::None,
    })
}
