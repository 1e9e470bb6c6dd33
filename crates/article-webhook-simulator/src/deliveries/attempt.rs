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

/// How many attempts, and how many calls, are kept.
const MAX_KEPT: usize = 10_000;

/// The latest attempts or calls. The oldest are removed first.
#[derive(Debug)]
pub(crate) struct Latest<T>(VecDeque<T>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Clone> Latest<T> {
    pub(crate) fn add(&mut self, item: T) {
        if self.0.len() == MAX_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(item);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.iter().cloned().collect()
    }

    pub(crate) fn drain(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0).into()
    }
}
