use std::collections::{HashSet, VecDeque};

use article_webhook::JobId;

use crate::store::Hint;

/// The most hints that are held while the store does not take them.
const MOST: usize = 1024;

/// Hints on their way into the store: bounded, and one for each job.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    waiting: VecDeque<Hint>,
    jobs: HashSet<JobId>,
    /// Somebody is carrying them to the store.
    carried: bool,
    pub(crate) dropped: u64,
}

impl Hints {
    /// Takes a hint. `true`: nobody carries them to the store, so whoever gets this answer has to.
    pub(crate) fn push(&mut self, hint: Hint) -> bool {
        if self.jobs.contains(&hint.job_id) {
            return !std::mem::replace(&mut self.carried, true);
        }
        if self.waiting.len() == MOST {
            self.dropped += 1;
        } else {
            self.jobs.insert(hint.job_id.clone());
            self.waiting.push_back(hint);
        }
        !std::mem::replace(&mut self.carried, true)
    }

    /// The next one to store; it stays until it is `stored`. After `None` nobody carries them any more.
    pub(crate) fn next(&mut self) -> Option<Hint> {
        let next = self.waiting.front().cloned();
        self.carried = next.is_some();
        next
    }

    /// The one that `next` gave is stored.
    pub(crate) fn stored(&mut self) {
        if let Some(hint) = self.waiting.pop_front() {
            self.jobs.remove(&hint.job_id);
        }
    }

    /// Whoever carried them gives up: the next hint finds somebody else.
    pub(crate) fn put_down(&mut self) {
        self.carried = false;
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
    fn the_first_hint_finds_a_carrier_and_the_others_wait_for_it() {
        let mut hints = Hints::default();
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
        let mut hints = Hints::default();
        assert!(hints.push(hint(1)));
        assert!(!hints.push(hint(1)));
        assert_eq!(hints.len(), 1);
        hints.stored();
        hints.push(hint(1));
        assert_eq!(hints.len(), 1);
    }

    #[test]
    fn while_the_store_is_down_so_many_are_held_and_no_more() {
        let mut hints = Hints::default();
        for job in 0..MOST + 7 {
            hints.push(hint(job));
        }
        assert_eq!((hints.len(), hints.dropped), (MOST, 7));
        hints.put_down();
        assert_eq!(hints.next(), Some(hint(0)));
        hints.put_down();
        hints.stored();
        assert!(hints.push(hint(MOST)));
    }

    #[test]
    fn hints_that_were_put_down_find_a_carrier_also_when_nothing_is_added_to_them() {
        let mut hints = Hints::default();
        for job in 0..MOST {
            hints.push(hint(job));
        }
        hints.put_down();
        assert!(hints.push(hint(MOST)));
        hints.put_down();
        assert!(hints.push(hint(0)));
        assert_eq!((hints.len(), hints.dropped), (MOST, 1));
    }
}
