//! What happened to each ordered article.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use article_webhook_client::JobId;
use article_webhook_inbox::Source;
use article_webhook_simulator::{Attempt, Fault, pause_after};

use super::receiver::Condition;

/// What happened. Times are of the simulated service, since its start.
#[derive(Debug, Clone)]
pub(super) enum Happening {
    Ordered { at: Duration, job_id: JobId, topic: String },
    Attempted(Attempt),
    Published { at: Duration, job_id: JobId, title: String, source: Source },
    Receiver { at: Duration, condition: Condition },
}

/// One article.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) at: Duration,
    pub(super) job_id: JobId,
    pub(super) topic: String,
    pub(super) attempts: Vec<Attempt>,
    /// How its body reached the inbox, once for each time that the handler ran.
    pub(super) published: Vec<Source>,
}

impl Order {
    /// Whether it is published, and the service is done with it: an answer was heard, or no attempt is left.
    pub(super) fn is_over(&self) -> bool {
        let is_done = |attempt: &Attempt| again_in(attempt).is_none();
        !self.published.is_empty() && self.attempts.last().is_some_and(is_done)
    }
}

/// When the service tries again. `None`: never.
pub(super) fn again_in(attempt: &Attempt) -> Option<Duration> {
    let is_heard = attempt.outcome.is_success() && !is_answer_lost(attempt);
    if is_heard { None } else { pause_after(attempt.number) }
}

pub(super) fn is_answer_lost(attempt: &Attempt) -> bool {
    attempt.faults.contains(&Fault::AnswerLost)
}

/// The latest orders.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<Orders>);

#[derive(Debug, Default)]
struct Orders {
    /// The latest first.
    known: VecDeque<Order>,
    /// What happened to jobs whose orders are not told yet: an article may be delivered before the order returns.
    early: VecDeque<Happening>,
}

/// How many orders are remembered.
const MOST: usize = 200;

/// How many happenings wait for their orders. Those of forgotten orders wait in vain.
const MOST_EARLY: usize = 4 * MOST;

impl Record {
    pub(super) fn add(&self, happening: &Happening) {
        self.lock().add(happening);
    }

    /// The orders, the latest first.
    pub(super) fn orders(&self) -> Vec<Order> {
        self.lock().known.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Orders {
    fn add(&mut self, happening: &Happening) {
        let job = match happening {
            Happening::Ordered { at, job_id, topic } => {
                self.known.truncate(MOST - 1);
                self.known.push_front(Order {
                    at: *at,
                    job_id: job_id.clone(),
                    topic: topic.clone(),
                    attempts: Vec::new(),
                    published: Vec::new(),
                });
                // What belongs to other orders goes back.
                std::mem::take(&mut self.early).iter().for_each(|early| self.add(early));
                return;
            }
            Happening::Attempted(attempt) => &*attempt.job_id,
            Happening::Published { job_id, .. } => job_id.as_str(),
            Happening::Receiver { .. } => return,
        };
        let Some(order) = self.known.iter_mut().find(|order| order.job_id.as_str() == job) else {
            if self.early.len() == MOST_EARLY {
                self.early.pop_front();
            }
            self.early.push_back(happening.clone());
            return;
        };
        match happening {
            Happening::Attempted(attempt) => order.attempts.push(attempt.clone()),
            Happening::Published { source, .. } => order.published.push(*source),
            Happening::Ordered { .. } | Happening::Receiver { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_before_its_order_is_kept_until_the_order_comes() {
        let record = Record::default();
        let published = |job: &str| Happening::Published {
            at: Duration::ZERO,
            job_id: job.parse().unwrap(),
            title: String::new(),
            source: Source::Webhook,
        };
        let ordered = |job: &str| Happening::Ordered {
            at: Duration::ZERO,
            job_id: job.parse().unwrap(),
            topic: String::new(),
        };
        record.add(&published("job_1"));
        record.add(&published("job_2"));
        assert!(record.orders().is_empty());
        for job in ["job_2", "job_1"] {
            record.add(&ordered(job));
            let order = record.orders().swap_remove(0);
            assert_eq!((order.job_id.as_str(), &*order.published), (job, &[Source::Webhook][..]));
        }
        for number in 0..2 * MOST_EARLY {
            record.add(&published(&format!("job_x{number}")));
        }
        assert_eq!(record.lock().early.len(), MOST_EARLY);
    }
}
