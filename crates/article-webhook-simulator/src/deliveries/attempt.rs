use std::{collections::VecDeque, time::Duration};

use serde::Serialize;

use super::outcome::DeliveryOutcome;
use crate::Fault;

/// An attempt at a delivery that was made.
///
/// ```
/// fn line(attempt: &article_webhook_simulator::Attempt) -> String {
///     let answer = match &attempt.outcome.answer {
///         Ok(answer) => answer.status.to_string(),
///         Err(why) => why.clone(),
///     };
///     format!("{:?} {} attempt {}: {answer}", attempt.at, attempt.job_id, attempt.number)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // an attempt may get more details
pub struct Attempt {
    /// The job of the article.
    pub job_id: String,
    /// The URL of the receiver.
    pub url: String,
    /// The number of the attempt: 1 to 4.
    pub number: u8,
    /// When it was made, in simulated time since the start.
    pub at: Duration,
    /// The faults of this attempt.
    pub faults: Vec<Fault>,
    /// The outcome.
    pub outcome: DeliveryOutcome,
}

/// The latest attempts or calls. The oldest are removed first.
#[derive(Debug)]
pub(crate) struct Latest<T> {
    items: VecDeque<T>,
    kept: usize,
}

impl<T: Clone> Latest<T> {
    pub(crate) fn new(kept: usize) -> Self {
        Self { items: VecDeque::new(), kept }
    }

    pub(crate) fn add(&mut self, item: T) {
        if self.kept == 0 {
            return;
        }
        if self.items.len() == self.kept {
            self.items.pop_front();
        }
        self.items.push_back(item);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.items.iter().cloned().collect()
    }

    pub(crate) fn drain(&mut self) -> Vec<T> {
        std::mem::take(&mut self.items).into()
    }
}
