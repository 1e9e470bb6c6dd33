use std::time::SystemTime;

use article_webhook::JobId;

use super::{IntentRow, erase::digest};
use crate::call::IntentState;

/// Of how many other jobs deliveries to the URL of an intent are kept in quarantine.
const MAX_KEPT_JOBS: usize = 2;

/// How many other jobs are polled because they were delivered to the URL of an intent while a call had no answer. Each is polled
/// for days, also one that does not exist.
const MAX_REFUSED_JOBS: usize = 8;

/// Which jobs the URL of an intent is good for: as many as calls were made. A call without an answer may have become any job, so
/// that the first that is delivered is bound in its place, until an answer says which it was. If that is lost, a poll decides.
impl IntentRow {
    /// Whether the URL of this intent, with its name, is good for a job. `known` is the intent that the ledger has for the job.
    #[must_use]
    pub fn admits(&self, (name, known): (&str, Option<&str>), job_id: &JobId) -> bool {
        let has_open_call = known.is_none() && self.known_jobs() < self.calls as usize;
        has_open_call || self.has((name, known), job_id)
    }

    /// A job was delivered to the URL of this intent, which [admits](Self::admits) it: it is that of a call without an answer,
    /// unless it is known. Returns when the answer to that call can come no more, if it is bound by this.
    pub fn bind(
        &mut self,
        (name, known): (&str, Option<&str>),
        job_id: &JobId,
        now: SystemTime,
    ) -> Option<SystemTime> {
        let is_under_way = self.state_at(now) == IntentState::Ordering;
        let deadline = if is_under_way { self.at } else { now };
        let is_new = !self.has((name, known), job_id);
        if is_new {
            self.provisional.push(job_id.clone());
        }
        self.resolve(job_id, now);
        is_new.then_some(deadline)
    }

    /// Whether the job is known to be one of this intent, or was before it was erased.
    fn has(&self, (name, known): (&str, Option<&str>), job_id: &JobId) -> bool {
        let is_named = self.job_id.as_ref() == Some(job_id) || self.provisional.contains(job_id);
        is_named || known == Some(name) || self.erased.contains(&digest(job_id))
    }

    /// Whether a call has no answer: another job that is delivered than those that are bound may be the one that was ordered.
    fn is_in_doubt(&self) -> bool {
        self.answered < self.calls
    }

    /// Whether there is room for deliveries of this job in quarantine, to whose order the URL does not belong.
    #[must_use]
    pub fn keeps_refused(&self, job_id: &JobId) -> bool {
        let mut kept = self.refused.iter().take(MAX_KEPT_JOBS);
        self.refused.len() < MAX_KEPT_JOBS || kept.any(|kept| *kept == digest(job_id))
    }

    /// Whether this job may be that of a call without an answer, so that it is polled, although another is bound in its place.
    #[must_use]
    pub fn expects_refused(&self, job_id: &JobId) -> bool {
        let has_room = self.refused.len() < MAX_REFUSED_JOBS;
        self.is_in_doubt() && (has_room || self.refused.contains(&digest(job_id)))
    }

    /// Whether this job may be that of a call without an answer, and is not polled, because too many others are.
    #[must_use]
    pub fn has_too_many_jobs_for(&self, job_id: &JobId) -> bool {
        self.is_in_doubt() && !self.expects_refused(job_id)
    }

    /// A delivery of this job, to whose order the URL does not belong, is kept in quarantine, or the job is polled for it.
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
        let unbound = self.pop_surplus();
        if unbound.is_some() && self.job_id == unbound {
            self.job_id = Some(job_id.clone());
        }
        self.resolve(job_id, now);
        let is_erased = self.erased.contains(&digest(job_id));
        if is_erased && self.job_id.as_ref() == Some(job_id) {
            (self.job_id, self.topic) = (None, None);
        }
        Answered { is_expected: !is_erased, unbound }
    }

    /// The last call took nothing: one bound job fewer may be that of a call.
    pub(super) fn call_took_nothing(&mut self, now: SystemTime) -> Option<JobId> {
        self.calls = self.calls.saturating_sub(1).max(1);
        let unbound = self.pop_surplus()?;
        self.leave(&unbound, now);
        Some(unbound)
    }

    /// The service knows a job that was delivered to the URL, and not this one, which was bound before it: it takes its place.
    pub fn replace(&mut self, unknown: &JobId, job_id: &JobId) {
        for bound in self.provisional.iter_mut().chain(&mut self.job_id) {
            if bound == unknown {
                *bound = job_id.clone();
            }
        }
    }

    /// The job is not that of this intent: the answer to a call of another says so, or the service does not know the job. An answer
    /// to a call of this one can come until that time. Whether it was bound here.
    pub fn unbind(&mut self, job_id: &JobId, until: SystemTime) -> bool {
        let before = self.provisional.len();
        self.provisional.retain(|bound| bound != job_id);
        let was_bound = self.provisional.len() < before;
        if was_bound {
            self.leave(job_id, until);
        }
        was_bound
    }

    /// The job is not bound any more.
    fn leave(&mut self, job_id: &JobId, until: SystemTime) {
        if self.job_id.as_ref() == Some(job_id) {
            self.job_id = self.provisional.first().cloned();
            if self.job_id.is_none() && self.answered == 0 {
                (self.state, self.at) = (IntentState::Ordering, until);
            }
        }
    }

    /// Takes a bound job away if more are known than calls were made.
    pub(super) fn pop_surplus(&mut self) -> Option<JobId> {
        if self.known_jobs() > self.calls as usize { self.provisional.pop() } else { None }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::intent::NotOrdered, *};
    use crate::Topic;

    const NAME: &str = "post-17";
    const NOW: SystemTime = SystemTime::UNIX_EPOCH;
    const WITHIN: Duration = Duration::from_secs(60);

    fn job(id: &str) -> JobId {
        id.parse().unwrap()
    }

    fn ids(jobs: &[JobId]) -> Vec<&str> {
        jobs.iter().map(JobId::as_str).collect()
    }

    /// An intent with this number of calls, to whose URL these jobs were delivered.
    fn delivered(calls: u32, jobs: &[&str]) -> IntentRow {
        let mut row = IntentRow { calls, ..IntentRow::new(WITHIN, NOW) };
        for id in jobs {
            assert!(row.admits((NAME, None), &job(id)), "{id}");
            assert!(row.bind((NAME, None), &job(id), NOW).is_some(), "{id}");
        }
        row
    }

    /// Retention may have removed them from the ledger.
    #[test]
    fn the_url_is_good_for_its_jobs_and_no_other() {
        let mut answered = delivered(1, &[]);
        answered.answer((NAME, None), &job("job_1"), NOW);
        assert!(answered.admits((NAME, None), &job("job_1")));
        let bound = delivered(2, &["job_1", "job_2"]);
        assert!(["job_1", "job_2"].iter().all(|id| bound.admits((NAME, None), &job(id))));
        assert!(!bound.admits((NAME, None), &job("job_3")));
    }

    #[test]
    fn an_answer_takes_the_place_of_the_last_job_that_was_bound() {
        let mut row = delivered(2, &["job_1", "forged"]);
        let answered = row.answer((NAME, None), &job("job_2"), NOW);
        assert!(!row.unbind(&job("job_2"), NOW), "it was named by an answer");
        assert_eq!((answered.unbound, row.job_id), (Some(job("forged")), Some(job("job_1"))));

        let mut row = delivered(2, &["job_1", "job_2"]);
        assert_eq!(row.answer((NAME, None), &job("job_1"), NOW).unbound, None);
        assert_eq!(ids(&row.provisional), ["job_2"], "the answer confirms the first");
    }

    /// The service has taken an order of it, so no other may be placed.
    #[test]
    fn an_intent_of_which_a_call_was_answered_stays_ordered_without_a_job_that_is_not_known() {
        for answered in [0, 1] {
            let mut row = delivered(2, &["forged"]);
            for _ in 0..answered {
                row.answer((NAME, None), &job("job_1"), NOW);
            }
            assert!(row.unbind(&job("forged"), NOW));
            let expected = [IntentState::Unknown, IntentState::Ordered][answered];
            assert_eq!(row.state_at(NOW), expected);
        }
    }

    /// Of another store. The same row came from there or from here if it was stored at the same time.
    #[test]
    fn the_calls_of_both_stores_count() {
        let row = |calls, answered, jobs: &[&str]| {
            let shown = jobs.first().map(|id| job(id));
            let state = if shown.is_some() { IntentState::Ordered } else { IntentState::Ordering };
            let provisional = jobs.iter().skip(answered as usize).map(|id| job(id)).collect();
            let new = IntentRow::new(WITHIN, NOW);
            IntentRow { state, calls, answered, provisional, job_id: shown, ..new }
        };
        for (here, there, is_copy, expected) in [
            // A later state of the same row.
            (row(1, 0, &[]), row(1, 1, &["job_1"]), true, (1, 1, &[][..], Some("job_1"))),
            (row(1, 1, &["job_1"]), row(1, 0, &[]), true, (1, 1, &[], Some("job_1"))),
            (row(1, 0, &["forged"]), row(1, 1, &["job_1"]), true, (1, 1, &[], Some("job_1"))),
            (row(1, 0, &["a"]), row(1, 0, &["b"]), true, (1, 0, &["a"], Some("a"))),
            (row(1, 0, &[]), row(2, 0, &["a", "b"]), true, (2, 0, &["a", "b"], Some("a"))),
            // Each store made a call.
            (row(1, 0, &[]), row(1, 1, &["job_1"]), false, (2, 1, &[], Some("job_1"))),
            (row(1, 1, &["job_1"]), row(1, 0, &[]), false, (2, 1, &[], Some("job_1"))),
            (row(1, 1, &["job_1"]), row(1, 1, &["job_1"]), false, (1, 1, &[], Some("job_1"))),
            (row(1, 1, &["job_1"]), row(1, 0, &["a"]), false, (2, 1, &["a"], Some("job_1"))),
            (row(1, 0, &["a"]), row(1, 1, &["job_1"]), false, (2, 1, &["a"], Some("job_1"))),
            // The job of one call, confirmed by one of them.
            (row(1, 0, &["a"]), row(1, 1, &["a"]), false, (2, 1, &[], Some("a"))),
            (row(1, 1, &["a"]), row(1, 0, &["a"]), false, (2, 1, &[], Some("a"))),
        ] {
            let about = format!("{here:?} {there:?}");
            let mut merged = here;
            let created_at = if is_copy { NOW } else { NOW + WITHIN };
            let there = IntentRow { created_at, ..there };
            for _ in 0..2 {
                merged.import_outcome(&there);
                let (calls, answered, provisional, shown) = expected;
                assert_eq!((merged.calls, merged.answered), (calls, answered), "{about}");
                assert_eq!(ids(&merged.provisional), provisional, "{about}");
                assert_eq!(merged.job_id, shown.map(job), "{about}");
            }
        }
        let mut erased = row(1, 0, &[]);
        erased.erase(&job("job_1"));
        let topic = Topic::of("Running shoes");
        let there = IntentRow { topic: topic.clone(), ..row(1, 1, &["job_1"]) };
        erased.import_outcome(&there);
        assert_eq!((erased.state, erased.job_id), (IntentState::Ordered, None));
        assert_eq!(erased.topic, None);
        let mut known = row(1, 0, &[]);
        known.import_outcome(&there);
        assert_eq!(known.topic, topic);
        // Erased there, or another order there.
        let open = IntentRow { topic: Topic::of("Knees"), ..row(1, 0, &[]) };
        let mut erased_there = there.clone();
        erased_there.erase(&job("job_1"));
        for (there, expected) in [(&erased_there, None), (&there, topic)] {
            let mut here = open.clone();
            here.import_outcome(there);
            assert_eq!(here.topic, expected);
            let answered = here.answer((NAME, None), &job("job_1"), NOW);
            assert_eq!(answered.is_expected, there.job_id.is_some(), "what is erased stays so");
        }
        let mut ordered = row(1, 1, &["job_2"]);
        ordered.import_outcome(&there);
        assert_eq!((ordered.job_id, ordered.topic), (Some(job("job_2")), None));
    }

    #[test]
    fn a_call_that_took_nothing_takes_one_bound_job_away() {
        for (calls, jobs, left, shown) in [
            (2, &["job_1", "job_2"][..], &["job_1"][..], Some("job_1")),
            (2, &["job_1"], &["job_1"], Some("job_1")),
            (3, &["job_1", "job_2"], &["job_1", "job_2"], Some("job_1")),
            (2, &[], &[], None),
        ] {
            let mut row = IntentRow { fence: 9, ..delivered(calls, jobs) };
            let unbound = match row.not_ordered(row.lease(1), NOW) {
                NotOrdered::Unknown { unbound } => unbound,
                other => panic!("{other:?}"),
            };
            assert_eq!(ids(&row.provisional), left);
            assert_eq!(unbound.is_some(), left.len() < jobs.len());
            assert_eq!((row.calls, row.job_id), (calls - 1, shown.map(job)));
        }
        let mut only = delivered(1, &["job_1"]);
        let unbound = vec![job("job_1")];
        assert_eq!(only.not_ordered(only.lease(1), NOW), NotOrdered::Remove { unbound });
    }
}
