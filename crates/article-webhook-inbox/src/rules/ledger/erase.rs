use article_webhook::JobId;

use super::IntentRow;
use crate::{Digest, call::IntentState};

/// How many erased jobs an intent remembers, the last ones.
const MAX_ERASED_JOBS: usize = 16;

impl IntentRow {
    /// Whether an answer to a call of this intent may name a job that is erased now. `intent` is the one that the ledger
    /// has for the job. If it has none, the job may be that of any order which is not known to be another.
    #[must_use]
    pub fn may_have_ordered(&self, name: &str, job_id: &JobId, intent: Option<&str>) -> bool {
        let is_possible =
            intent.map_or(self.state != IntentState::Ordered, |intent| intent == name);
        is_possible || self.job_id.as_ref() == Some(job_id)
    }

    /// A job that [may be](Self::may_have_ordered) that of this intent was erased. An intent that was ordered stays so, and is
    /// not ordered again. It keeps a digest of the job id, so that an answer which is stored later does not bring the job
    /// back.
    pub fn erase(&mut self, job_id: &JobId) {
        let digest = digest(job_id);
        self.erased.retain(|known| *known != digest);
        self.erased.push(digest);
        self.leave_erased();
    }

    /// What is erased is named no more, and the last digests are kept.
    pub(super) fn leave_erased(&mut self) {
        let erased = &self.erased;
        if self.job_id.take_if(|job_id| erased.contains(&digest(job_id))).is_some() {
            self.topic = None;
        }
        self.provisional.retain(|known| !erased.contains(&digest(known)));
        let surplus = self.erased.len().saturating_sub(MAX_ERASED_JOBS);
        self.erased.drain(..surplus);
    }
}

pub(super) fn digest(job_id: &JobId) -> Digest {
    Digest::of(job_id.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn job(number: usize) -> JobId {
        format!("job_{number}").parse().unwrap()
    }

    /// Whether the job of an answer is expected.
    fn answer(row: &mut IntentRow, number: usize) -> bool {
        row.answer(("post-17", None), &job(number), NOW).is_expected
    }

    #[test]
    fn an_intent_remembers_the_last_erased_jobs() {
        let mut row = IntentRow::new(Duration::from_secs(60), NOW);
        for number in 0..=MAX_ERASED_JOBS {
            row.erase(&job(number));
            row.erase(&job(number));
        }
        assert_eq!(row.erased.len(), MAX_ERASED_JOBS);
        assert!(answer(&mut row.clone(), 0));
        assert!((1..=MAX_ERASED_JOBS).all(|number| !answer(&mut row.clone(), number)));
    }

    #[test]
    fn a_job_without_an_intent_may_be_that_of_any_order_without_a_job() {
        let row = IntentRow::new(Duration::from_secs(60), NOW);
        assert!(row.may_have_ordered("post-17", &job(1), None));
        assert!(row.may_have_ordered("post-17", &job(1), Some("post-17")));
        assert!(!row.may_have_ordered("post-17", &job(1), Some("post-18")));
        let mut ordered = row;
        answer(&mut ordered, 1);
        assert!(
            ordered.may_have_ordered("post-17", &job(1), Some("post-18")),
            "as the intent says"
        );
        assert!(ordered.may_have_ordered("post-17", &job(2), Some("post-17")), "as the job says");
        assert!(!ordered.may_have_ordered("post-17", &job(2), None));
    }
}
