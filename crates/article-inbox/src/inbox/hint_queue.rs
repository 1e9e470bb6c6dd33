use std::collections::{HashSet, VecDeque};

use article_webhook::JobId;

use crate::call::Hint;

/// How many hints are held while the store accepts none.
const MAX_HINTS: usize = 1024;

/// Hints that wait for the store: at most one per job, and a bounded number of them.
#[derive(Debug, Default)]
pub(crate) struct HintQueue {
    waiting: VecDeque<Hint>,
    jobs: HashSet<JobId>,
    /// A writer is storing them.
    has_writer: bool,
    /// How many were dropped because too many waited.
    pub(crate) dropped: u64,
}

impl HintQueue {
    /// Adds a hint. `true` if no writer is storing hints: the caller must start one, or [release](Self::release) the queue.
    pub(crate) fn push(&mut self, hint: Hint) -> bool {
        if self.jobs.contains(&hint.job_id) {
            return !std::mem::replace(&mut self.has_writer, true);
        }
        if self.waiting.len() == MAX_HINTS {
            self.dropped += 1;
        } else {
            self.jobs.insert(hint.job_id.clone());
            self.waiting.push_back(hint);
        }
        !std::mem::replace(&mut self.has_writer, true)
    }

    /// The next hint to store. It stays in the queue until it is [stored](Self::stored). `None` ends the writer.
    pub(crate) fn next(&mut self) -> Option<Hint> {
        let next = self.waiting.front().cloned();
        self.has_writer = next.is_some();
        next
    }

    /// The hint that `next` returned is stored.
    pub(crate) fn stored(&mut self) {
        if let Some(hint) = self.waiting.pop_front() {
            self.jobs.remove(&hint.job_id);
        }
    }

    /// The writer has ended before its work was done. The next hint starts another.
    pub(crate) fn release(&mut self) {
        self.has_writer = false;
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn hint(job: usize) -> Hint {
        let job_id = format!("job_{job}").parse().unwrap();
        Hint { job_id, at: SystemTime::UNIX_EPOCH, code: "malformed_json".into() }
    }

    #[test]
    fn the_first_hint_starts_a_writer_and_the_others_wait_for_it() {
        let mut hints = HintQueue::default();
        assert!(hints.push(hint(1)));
        assert!(!hints.push(hint(2)));
        assert_eq!(hints.next(), Some(hint(1)));
        hints.stored();
        assert_eq!(hints.next(), Some(hint(2)));
        hints.stored();
        assert_eq!(hints.next(), None);
        assert!(hints.push(hint(3)));
    }

    #[test]
    fn a_job_is_held_once() {
        let mut hints = HintQueue::default();
        assert!(hints.push(hint(1)));
        assert!(!hints.push(hint(1)));
        assert_eq!(hints.len(), 1);
        hints.stored();
        hints.push(hint(1));
        assert_eq!(hints.len(), 1);
    }

    #[test]
    fn while_the_store_is_down_a_bounded_number_of_hints_is_held() {
        let mut hints = HintQueue::default();
        for job in 0..MAX_HINTS + 7 {
            hints.push(hint(job));
        }
        assert_eq!((hints.len(), hints.dropped), (MAX_HINTS, 7));
        hints.release();
        assert_eq!(hints.next(), Some(hint(0)));
        hints.release();
        hints.stored();
        assert!(hints.push(hint(MAX_HINTS)));
    }

    #[test]
    fn a_released_queue_starts_a_writer_even_if_no_hint_is_added() {
        let mut hints = HintQueue::default();
        for job in 0..MAX_HINTS {
            hints.push(hint(job));
        }
        hints.release();
        assert!(hints.push(hint(MAX_HINTS)));
        hints.release();
        assert!(hints.push(hint(0)));
        assert_eq!((hints.len(), hints.dropped), (MAX_HINTS, 1));
    }
}
