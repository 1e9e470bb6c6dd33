//! What happens, and what has happened to each ordered article.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use article_webhook_client::JobId;
use article_webhook_inbox::Source;
use article_webhook_simulator::Attempt;
use serde::{Serialize, Serializer};

use super::receiver::Condition;
use crate::{
    command::attempt,
    failure::Failure,
    output::{Output, Tone},
    text::{escape, moment},
};

/// What happened, as a line of JSON has it. Times are of the simulated service, since its start.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Happening {
    Ordered {
        #[serde(rename = "at_seconds", serialize_with = "seconds")]
        at: Duration,
        ordered: JobId,
        topic: String,
    },
    #[serde(skip)] // `attempt::show` has its line
    Attempted(Attempt),
    Published {
        #[serde(rename = "at_seconds", serialize_with = "seconds")]
        at: Duration,
        published: JobId,
        #[serde(serialize_with = "name")]
        source: Source,
        title: String,
    },
    Receiver {
        #[serde(rename = "at_seconds", serialize_with = "seconds")]
        at: Duration,
        receiver: Condition,
    },
}

fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

fn name<S: Serializer>(source: &Source, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(source.as_str())
}

impl Happening {
    pub(super) fn show(&self, output: &Output) -> Result<(), Failure> {
        let (kind, at, tone, job, text) = match self {
            Self::Ordered { at, ordered, topic } => {
                ("ordered", at, Tone::Plain, ordered.as_str(), topic.clone())
            }
            Self::Attempted(attempt) => return attempt::show(attempt, output),
            Self::Published { at, published, title, source } => {
                let by = if *source == Source::Api { ", which the collector polled" } else { "" };
                ("published", at, Tone::Good, published.as_str(), format!("“{title}”{by}"))
            }
            Self::Receiver { at, receiver } => {
                let (tone, text) = match receiver {
                    Condition::Works => (Tone::Good, "works again"),
                    Condition::CannotStore => (Tone::Bad, "cannot store, and answers 503"),
                    Condition::Off => (Tone::Bad, "is off: nothing listens on its port"),
                };
                ("receiver", at, tone, text, String::new())
            }
        };
        let time = output.paint(Tone::Quiet, &format!("{:>7}", moment::clock(*at)));
        let verb = output.paint(tone, &format!("{kind:<9}"));
        let line = format!("{time}  {verb}  {}  {}", escape::line(job), escape::line(&text));
        output.either(kind, self, line.trim_end())
    }
}

/// One article.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) at: Duration,
    pub(super) job_id: String,
    /// `None`: the order is not reported yet. An article may be delivered before the order returns.
    topic: Option<String>,
    pub(super) attempts: Vec<Attempt>,
    /// How its body reached the inbox, once for each time that the handler ran.
    pub(super) published: Vec<Source>,
}

impl Order {
    pub(super) fn topic(&self) -> &str {
        self.topic.as_deref().unwrap_or_default()
    }

    /// Whether it is published, and the service is done with it: an answer was heard, or no attempt is left.
    pub(super) fn is_over(&self) -> bool {
        let is_done = |attempt: &Attempt| attempt::pause(attempt).is_none();
        !self.published.is_empty() && self.attempts.last().is_some_and(is_done)
    }
}

/// The latest orders, the latest first.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<VecDeque<Order>>);

/// How many orders are remembered.
const MAX_ORDERS: usize = 200;

impl Record {
    pub(super) fn add(&self, happening: &Happening) {
        let job = match happening {
            Happening::Ordered { ordered: job_id, .. }
            | Happening::Published { published: job_id, .. } => job_id.as_str(),
            Happening::Attempted(attempt) => &attempt.job_id,
            Happening::Receiver { .. } => return,
        };
        let mut orders = self.lock();
        let known = orders.iter().position(|order| order.job_id == job);
        if known.is_none() {
            let (attempts, published) = (Vec::new(), Vec::new());
            let (at, job_id) = (Duration::ZERO, job.to_owned());
            // An order that is not reported yet is removed first: it may be one that was removed before.
            while orders.len() >= MAX_ORDERS {
                let unreported = orders.iter().rposition(|order| order.topic.is_none());
                let gone = unreported.unwrap_or(orders.len() - 1);
                orders.remove(gone);
            }
            orders.push_front(Order { at, job_id, topic: None, attempts, published });
        }
        let order = &mut orders[known.unwrap_or_default()];
        match happening {
            Happening::Ordered { at, topic, .. } => {
                (order.at, order.topic) = (*at, Some(topic.clone()));
            }
            Happening::Attempted(attempt) => order.attempts.push(attempt.clone()),
            Happening::Published { source, .. } => order.published.push(*source),
            Happening::Receiver { .. } => {}
        }
    }

    /// The orders that were reported.
    pub(super) fn orders(&self) -> Vec<Order> {
        self.lock().iter().filter(|order| order.topic.is_some()).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Order>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
