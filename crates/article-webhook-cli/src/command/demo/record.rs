//! What happened to each ordered article.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use article_client::JobId;
use article_inbox::Source;
use article_simulator::{Attempt, Fault, pause_after};

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
pub(super) struct Record(Mutex<VecDeque<Order>>);

/// How many orders are remembered.
const MOST: usize = 200;

impl Record {
    pub(super) fn add(&self, happening: &Happening) {
        let mut orders = self.lock();
        match happening {
            Happening::Ordered { at, job_id, topic } => {
                orders.truncate(MOST - 1);
                orders.push_front(Order {
                    at: *at,
                    job_id: job_id.clone(),
                    topic: topic.clone(),
                    attempts: Vec::new(),
                    published: Vec::new(),
                });
            }
            Happening::Attempted(attempt) => {
                if let Some(order) = find(&mut orders, &attempt.job_id) {
                    order.attempts.push(attempt.clone());
                }
            }
            Happening::Published { job_id, source, .. } => {
                if let Some(order) = find(&mut orders, job_id.as_str()) {
                    order.published.push(*source);
                }
            }
            Happening::Receiver { .. } => {}
        }
    }

    /// The orders, the latest first.
    pub(super) fn orders(&self) -> Vec<Order> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Order>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find<'a>(orders: &'a mut VecDeque<Order>, job_id: &str) -> Option<&'a mut Order> {
    orders.iter_mut().find(|order| order.job_id.as_str() == job_id)
}
