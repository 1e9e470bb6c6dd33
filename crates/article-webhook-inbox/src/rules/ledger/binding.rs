use std::time::SystemTime;

use article_webhook::JobId;

use super::{IntentRow, erase::digest, intent::MAX_CALL_TIME};
use crate::{call::IntentState, timestamp::later};

/// Of how many other jobs deliveries to the URL of an intent are kept in quarantine.
const MAX_REFUSED_JOBS: usize = 2;

/// Which jobs the URL of an intent is good for: as many as calls were made. A call without an answer may have become any job, so
/// that the first that is delivered is bound in its place, until an answer says which it was.
impl IntentRow {
    /// Whether the URL of this intent, with its name, is good for a job. `known` is the intent that the ledger has for the job.
    #[must_use]
    pub fn admits(&self, (name, known): (&str, Option<&str>), job_id: &JobId) -> bool {
        let has_open_call = known.is_none() && self.known_jobs() < self.calls as usize;
        has_open_call || self.has((name, known), job_id)
    }

    /// A job was delivered to the URL of this intent, which [admits](Self::admits) it: it is that of a call without an answer,
    /// unless it is known.
    pub fn bind(&mut self, (name, known): (&str, Option<&str>), job_id: &JobId, now: SystemTime) {
        if !self.has((name, known), job_id) {
            self.provisional.push(job_id.clone());
        }
        self.resolve(job_id, now);
    }

    /// Whether the job is known to be one of this intent, or was before it was erased.
    fn has(&self, (name, known): (&str, Option<&str>), job_id: &JobId) -> bool {
        let is_named = self.job_id.as_ref() == Some(job_id) || self.provisional.contains(job_id);
        is_named || known == Some(name) || self.erased.contains(&digest(job_id))
    }

    /// Whether a call has no answer: another job that is delivered than those that are bound may be the one that was ordered.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.answered < self.calls
    }

    /// Whether there is room for deliveries of this job in quarantine, to whose order the URL does not belong.
    #[must_use]
    pub fn keeps_refused(&self, job_id: &JobId) -> bool {
        self.refused.len() < MAX_REFUSED_JOBS || self.refused.contains(&digest(job_id))
    }

    /// A delivery of this job, to whose order the URL does not belong, is kept in quarantine.
    pub fn note_refused(&mut self, job_id: &JobId) {
        let digest = digest(job_id);
        if !self.refused.contains(&digest) {
            self.refused.push(digest);
        }
    }

    /// The answer to a call says that the intent became this job. `known` is the intent that the ledger has for the job.
    pub fn answer(
        &mut self,
        (name, known): (&str, Option<&str>),
        job_id: &JobId,
        now: SystemTime,
    ) -> Answered {
        if self.provisional.contains(job_id) || !self.has((name, known), job_id) {
            self.answered = self.answered.saturating_add(1).min(self.calls);
        }
        self.provisional.retain(|bound| bound != job_id);
        let is_surplus = self.known_jobs() > self.calls as usize;
        let unbound = if is_surplus { self.provisional.pop() } else { None };
        if unbound.is_some() && self.job_id == unbound {
            self.job_id = Some(job_id.clone());
        }
        self.resolve(job_id, now);
        let is_erased = self.erased.contains(&digest(job_id));
        if is_erased && self.job_id.as_ref() == Some(job_id) {
            self.job_id = None;
        }
        Answered { is_expected: !is_erased, unbound }
    }

    /// The job is that of another intent, as the answer to a call of that says. Whether it was bound here.
    pub fn unbind(&mut self, job_id: &JobId, now: SystemTime) -> bool {
        let before = self.provisional.len();
        self.provisional.retain(|bound| bound != job_id);
        let was_bound = self.provisional.len() < before;
        if was_bound && self.job_id.as_ref() == Some(job_id) {
            self.job_id = self.provisional.first().cloned();
            if self.job_id.is_none() && self.answered == 0 {
                // The call may still be under way.
                (self.state, self.at) = (IntentState::Ordering, later(now, MAX_CALL_TIME));
            }
        }
        was_bound
    }

    /// How many of its jobs are known.
    fn known_jobs(&self) -> usize {
        let is_ordered = self.state == IntentState::Ordered;
        (self.answered as usize + self.provisional.len()).max(usize::from(is_ordered))
    }
}

/// What the answer to a call means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Answered {
    /// Whether the job is to be expected. One that was erased since the call began stays so, and the intent is ordered, without
    /// a job.
    pub is_expected: bool,
    /// The job that was bound in the place of this one, and is not that of the intent.
    pub unbound: Option<JobId>,
}
