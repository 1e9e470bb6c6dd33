use std::collections::{HashSet, VecDeque};

use article_webhook::JobId;

use crate::call::Expect;

/// How many jobs are kept while the store accepts none.
const MAX_JOBS: usize = 1024;

/// Jobs with a refused delivery that wait for the store, each once, and a bounded number of them.
#[derive(Debug, Default)]
pub(crate) struct ExpectQueue {
    waiting: VecDeque<Expect>,
    jobs: HashSet<JobId>,
    /// A writer is storing them.
    has_writer: bool,
    /// How many of them the store keeps for the next start, from the first on …
    kept: usize,
    /// … and whether others wait now.
    is_changed: bool,
    /// Whether the jobs that the last process kept are added.
    has_kept: bool,
    /// How many were dropped because too many waited.
    pub(crate) dropped: u64,
}

impl ExpectQueue {
    /// Adds a job. `true` if no writer is storing jobs: the caller must start one, or [release](Self::release) the queue.
    pub(crate) fn push(&mut self, job: Expect) -> bool {
        if self.jobs.contains(&job.job_id) {
            // The URL of an order may be good for another job: what came in another way counts without it.
            let is_other = |waiting: &&mut Expect| {
                waiting.job_id == job.job_id && waiting.intent != job.intent
            };
            if let Some(waiting) = self.waiting.iter_mut().find(is_other) {
                waiting.intent = None;
                self.is_changed = true;
            }
            return self.needs_writer();
        }
        if self.waiting.len() == MAX_JOBS {
            self.dropped += 1;
        } else {
            self.jobs.insert(job.job_id.clone());
            self.waiting.push_back(job);
            self.is_changed = true;
        }
        self.needs_writer()
    }

    /// `true` if no writer is storing jobs: the caller must start one, or [release](Self::release) the queue.
    pub(crate) fn needs_writer(&mut self) -> bool {
        !std::mem::replace(&mut self.has_writer, true)
    }

    /// Adds the jobs that the last process kept. `true` as of [`push`](Self::push).
    pub(crate) fn add_kept(&mut self, jobs: Vec<Expect>) -> bool {
        self.has_kept = true;
        jobs.into_iter().fold(false, |starts, job| self.push(job) | starts)
    }

    /// Whether the jobs are known that the last process kept.
    pub(crate) fn has_kept(&self) -> bool {
        self.has_kept
    }

    /// The next job to store. It stays in the queue until it is [stored](Self::stored). `None` ends the writer.
    pub(crate) fn next(&mut self) -> Option<Expect> {
        let next = self.waiting.front().cloned();
        self.has_writer = next.is_some();
        next
    }

    /// The job that `next` returned is stored.
    pub(crate) fn stored(&mut self) {
        if let Some(job) = self.waiting.pop_front() {
            self.jobs.remove(&job.job_id);
            self.kept = self.kept.saturating_sub(1);
            self.is_changed = true;
        }
    }

    /// The job that `next` returned is tried again after the others.
    pub(crate) fn postpone(&mut self) {
        if let Some(job) = self.waiting.pop_front() {
            self.waiting.push_back(job);
            self.is_changed = true;
        }
    }

    /// The job was erased. Not while the writer stores it.
    pub(crate) fn remove(&mut self, job_id: &JobId) {
        if self.jobs.remove(job_id) {
            self.waiting.retain(|job| job.job_id != *job_id);
            self.is_changed = true;
        }
    }

    /// The writer has ended before its work was done. The next job starts another.
    pub(crate) fn release(&mut self) {
        self.has_writer = false;
    }

    /// Has the jobs kept for the next start, if others wait than before. The store returns how many it keeps. They take the place
    /// of those that the last process kept, which must be known.
    pub(crate) fn keep(&mut self, keep: impl FnOnce(&[Expect]) -> usize) {
        if self.has_kept && std::mem::take(&mut self.is_changed) {
            self.kept = keep(self.waiting.make_contiguous());
        }
    }

    /// Has the jobs kept for the next start, although none may have been added: what was kept may be lost.
    pub(crate) fn keep_last(&mut self, keep: impl FnOnce(&[Expect]) -> usize) {
        self.is_changed = true;
        self.keep(keep);
    }

    /// The jobs that are kept until the next start, and those that are not.
    pub(crate) fn at_the_end(&mut self) -> (&[Expect], &[Expect]) {
        let jobs = self.waiting.make_contiguous();
        jobs.split_at(self.kept.min(jobs.len()))
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn job(number: usize) -> Expect {
        Expect::job(format!("job_{number}").parse().unwrap(), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_job_that_came_in_another_way_than_to_a_url_counts_without_its_order() {
        let to_url = || Expect { intent: Some("post-17".into()), ..job(1) };
        for pushed in [[to_url(), job(1)], [job(1), to_url()]] {
            let mut jobs = ExpectQueue::default();
            pushed.into_iter().for_each(|job| _ = jobs.push(job));
            assert_eq!(jobs.next(), Some(job(1)));
        }
        let mut jobs = ExpectQueue::default();
        [to_url(), to_url()].into_iter().for_each(|job| _ = jobs.push(job));
        assert_eq!(jobs.next(), Some(to_url()));
    }
}
