use std::time::{Duration, SystemTime};

use super::{super::lease::next_fence, JobRow, article_entry::is_rejected};
use crate::{
    Digest, Source, State,
    call::{JobState, Missing, PollLease, PollOutcome, PollSettled},
    timestamp::later,
};

impl JobRow {
    /// Whether the job may be polled, if the bucket has a token: it is open and its time has come. A poll whose lease
    /// has ended is due again.
    #[must_use]
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.state.is_open() && self.at <= now
    }

    /// A poll begins, with a lease from now on. It counts when it begins, and it has a new fence.
    pub fn poll(&mut self, id: i64, lease: Duration, now: SystemTime) -> PollLease {
        debug_assert!(self.is_due(now), "only a job that is due is polled");
        self.state = JobState::Polling;
        self.polls = self.polls.saturating_add(1);
        self.fence = next_fence(self.fence, now);
        self.at = later(now, lease);
        PollLease { id, fence: self.fence }
    }

    /// Whether that lease of a poll still holds.
    #[must_use]
    pub fn is_polled(&self, lease: PollLease, now: SystemTime) -> bool {
        self.state == JobState::Polling && self.fence == lease.fence && now < self.at
    }

    /// Stores the outcome of a poll with this key. `entry` is the state of the article's entry, after the answer was recorded; it matters
    /// for [`PollOutcome::Answered`], and if the job was [in doubt](Self::unproven). The row changed, unless the lease was lost.
    pub fn settle(
        &mut self,
        lease: PollLease,
        outcome: &PollOutcome,
        key: u64,
        entry: Option<State>,
        now: SystemTime,
    ) -> PollSettled {
        if !self.is_polled(lease, now) {
            return PollSettled::LostLease;
        }
        if outcome.knows_the_job() && self.is_provisional() {
            self.unproven = None;
        }
        match outcome {
            PollOutcome::Answered(_) => {
                self.collected_at = Some(now);
                if entry.is_none_or(is_rejected) {
                    self.reject_answer(now);
                } else if self.unproven.is_some() {
                    (self.missing, self.unconfirmed) = (None, None);
                    self.wait(PAUSE_WHILE_UNDECIDED, Some(UNDECIDED.to_owned()), now);
                } else {
                    let cause = self.unreadable_since.map(|_| REJECTED.to_owned());
                    self.end(JobState::Collected, cause, now);
                }
            }
            PollOutcome::Failed { cause, .. } => {
                self.key = Some(key);
                self.end(JobState::Failed, Some(cause.clone()), now);
            }
            PollOutcome::NotFound { cause } => {
                self.end(JobState::NotFound, Some(cause.clone()), now);
            }
            PollOutcome::Unfinished { after, cause } => {
                self.is_unfinished(key, None);
                self.wait(*after, Some(cause.clone()), now);
            }
            PollOutcome::Unconfirmed { after, cause, statement } => {
                self.is_unfinished(key, Some(*statement));
                self.wait(*after, Some(cause.clone()), now);
            }
            PollOutcome::Missing { after, cause } => {
                // A key of another account, or of another environment, knows none of the jobs of this one.
                if self.key.is_none_or(|known| known == key) {
                    let missing = self.missing.unwrap_or(Missing { times: 0, since: now });
                    let times = missing.times.saturating_add(1);
                    self.missing = Some(Missing { times, ..missing });
                }
                self.wait(*after, Some(cause.clone()), now);
            }
            PollOutcome::Rejected { after, cause } => self.reject(now, *after, cause, now),
            PollOutcome::Again { after, cause } => self.wait(*after, Some(cause.clone()), now),
            PollOutcome::Released => {
                self.polls = self.polls.saturating_sub(1);
                (self.state, self.at) = (JobState::Expected, now);
            }
        }
        if !self.state.is_open() && !self.is_provisional() {
            self.unproven = None;
        }
        // An article that came while the job was in doubt.
        if let (JobState::Expected | JobState::NotFound, Some(entry)) = (self.state, entry) {
            self.sync_with_entry(entry, Source::Webhook, now);
        }
        PollSettled::Settled(self.state)
    }

    /// The service works on the job with this key.
    fn is_unfinished(&mut self, key: u64, statement: Option<Digest>) {
        // Of an article it stays: what cannot be read may be a proxy's.
        (self.key, self.missing, self.unreadable_since) = (Some(key), None, None);
        self.unconfirmed = statement;
    }

    pub(super) fn wait(&mut self, pause: Duration, cause: Option<String>, now: SystemTime) {
        (self.state, self.at, self.cause) = (JobState::Expected, later(now, pause), cause);
    }
}

/// When a job is polled again whose article is here, while it is not known whether it is that of an order.
const PAUSE_WHILE_UNDECIDED: Duration = Duration::from_secs(3600);

/// The cause of such a job.
const UNDECIDED: &str = "its article is stored; the job is polled until the API has answered about another job that was delivered to the URL of the same order";

/// The cause of a job of which the API gave a body that cannot be read: an open one, or a collected one whose entry waits
/// for a worker to read another body.
pub(super) const REJECTED: &str = "an earlier body that the API gave cannot be read";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{ApiAnswer, Expect};

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const LEASE: Duration = Duration::from_secs(60);
    const KEY: u64 = 17;

    fn job() -> JobRow {
        JobRow::new(&Expect::job("job_1".parse().unwrap(), START), None, START)
    }

    fn answer(body: &'static str) -> ApiAnswer {
        ApiAnswer { target: "api".into(), digest: Digest::of(body.as_bytes()), bytes: body.into() }
    }

    fn again(seconds: u64) -> PollOutcome {
        PollOutcome::Again { after: Duration::from_secs(seconds), cause: "status 503".into() }
    }

    fn unfinished() -> PollOutcome {
        PollOutcome::Unfinished { after: LEASE, cause: "it is queued".into() }
    }

    /// The job was delivered to the URL of an order, and nothing else shows that it is the job of this order.
    #[test]
    fn a_job_in_doubt_is_open_until_the_service_knows_it() {
        let in_doubt = |state| {
            let mut row = JobRow { state, ..job() };
            row.doubt("post-17", START, START);
            row.sync_with_entry(State::Waiting, Source::Webhook, START);
            row
        };
        for &state in JobState::ALL {
            let row = in_doubt(state);
            let is_known = matches!(state, JobState::Failed | JobState::Unreadable);
            assert_eq!(row.is_provisional(), !is_known, "{state}");
            assert_eq!(row.state.is_open(), !is_known, "{state}");
        }
        let (after, cause) = (LEASE, String::from("a cause"));
        let statement = Digest::of(b"failed");
        let failed = PollOutcome::Failed { answer: answer("{}"), cause: cause.clone() };
        let missing = PollOutcome::Missing { after, cause: cause.clone() };
        for (outcome, entry, is_known, state) in [
            (PollOutcome::Answered(answer("{}")), State::Waiting, true, JobState::Collected),
            (failed, State::Waiting, true, JobState::Failed),
            (unfinished(), State::Done, true, JobState::Arrived),
            (unfinished(), State::Unhandled, true, JobState::Expected),
            (
                PollOutcome::Unconfirmed { after, cause: cause.clone(), statement },
                State::Done,
                true,
                JobState::Arrived,
            ),
            (
                PollOutcome::Rejected { after, cause: cause.clone() },
                State::Done,
                true,
                JobState::Arrived,
            ),
            (missing, State::Waiting, false, JobState::Expected),
            (again(1), State::Waiting, false, JobState::Expected),
            (PollOutcome::Released, State::Waiting, false, JobState::Expected),
            (PollOutcome::NotFound { cause }, State::Waiting, false, JobState::NotFound),
        ] {
            let mut row = in_doubt(JobState::Expected);
            let lease = row.poll(7, LEASE, START);
            let settled = row.settle(lease, &outcome, KEY, Some(entry), START);
            assert_eq!(settled, PollSettled::Settled(state), "{outcome:?}");
            assert_eq!((row.is_provisional(), outcome.knows_the_job()), (!is_known, is_known));
            assert_eq!(row.intent.as_deref(), Some("post-17"));
        }
    }

    /// The job was delivered to the URL of an order to which another job is bound, and no poll has decided yet which job is that of the order.
    #[test]
    fn a_job_that_may_be_that_of_an_order_is_open_until_it_ends_without_an_article() {
        let cause = String::from("a cause");
        let failed = PollOutcome::Failed { answer: answer("{}"), cause: cause.clone() };
        let not_found = PollOutcome::NotFound { cause };
        for (outcome, entry, state) in [
            (PollOutcome::Answered(answer("{}")), Some(State::Done), JobState::Expected),
            (PollOutcome::Answered(answer("{}")), Some(State::Unhandled), JobState::Expected),
            (unfinished(), Some(State::Done), JobState::Expected),
            (failed, None, JobState::Failed),
            (not_found.clone(), None, JobState::NotFound),
            (not_found, Some(State::Done), JobState::Arrived),
        ] {
            let mut row = JobRow { unproven: Some("post-17".into()), ..job() };
            row.sync_with_entry(State::Done, Source::Api, START);
            assert_eq!(row.state, JobState::Expected, "an article alone does not end it");
            let lease = row.poll(7, LEASE, START);
            let settled = row.settle(lease, &outcome, KEY, entry, START);
            assert_eq!(settled, PollSettled::Settled(state), "{outcome:?} {entry:?}");
            assert_eq!(row.unproven.is_some(), state.is_open(), "{outcome:?} {entry:?}");
        }
    }
}
