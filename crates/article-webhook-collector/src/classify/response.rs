use std::time::{Duration, SystemTime};

use article_webhook::{ArticleResult, DecodeError, Rejection};
use article_webhook_client::{CallOutcome, ErrorCode, Response};
use article_webhook_inbox::{
    Digest, ExpectedJob, Missing, OVERDUE_AFTER,
    store::{ApiAnswer, BucketEvent, PollOutcome},
};

use super::KeyWatch;
use crate::schedule::{DAY, HOUR};

/// A job ends as not found after this many answers that say so, if the time from the first to the last of them makes it
/// overdue.
const MIN_NOT_FOUND_ANSWERS: u32 = 3;

/// When a job is polled again whose answer has to be confirmed.
const CONFIRM_AFTER: Duration = Duration::from_secs(60);

/// The longest pause after a poll that got no answer, or one that was given to any call: 401, 408, 429 or a 5xx. A job that is
/// overdue would wait for a day because the API was down for a minute.
const MAX_PAUSE_WITHOUT_ANSWER: Duration = HOUR;

/// The label of bodies that the API gave.
const TARGET: &str = "api";

/// What an answer means.
#[derive(Debug)]
pub(crate) struct Meaning {
    /// For the job.
    pub(crate) outcome: PollOutcome,
    /// For all polls.
    pub(crate) event: Option<BucketEvent>,
    /// Why the answer is kept in quarantine, as a delivery is that is refused: nothing else is recorded of it, although it may
    /// be the article. `None` if it is not.
    pub(crate) quarantine: Option<String>,
    /// The name of the answer in metrics and logs.
    pub(crate) name: &'static str,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The client says why.
    Failed(article_webhook_client::Error),
    /// The call took longer than the client allows.
    Late,
    /// The call, or the reading of its answer, panicked.
    Panicked,
    /// The collector stopped before the answer came.
    Stopped,
}

/// A poll, when its answer came.
pub(crate) struct Polled<'a> {
    /// The job.
    pub(crate) job: &'a ExpectedJob,
    /// The pause of the schedule.
    pub(crate) pause: Duration,
    /// When its call began, by the clock of the store.
    pub(crate) began: SystemTime,
    /// The API key, by its fingerprint.
    pub(crate) key: u64,
}

impl Polled<'_> {
    /// The meaning of the answer.
    ///
    /// What the service says about a job counts at once only in its documented form. A draft of an article, and a failure
    /// in another form, count if a second answer says the same. Any other answer says nothing about the job, which is polled
    /// again: no number of them ends it.
    pub(crate) fn meaning(&self, response: &Response, watch: &mut KeyWatch) -> Meaning {
        match &response.outcome {
            CallOutcome::Complete(_)
            | CallOutcome::Failed { .. }
            | CallOutcome::Draft { .. }
            | CallOutcome::FailedState { .. } => watch.knew(self.began),
            CallOutcome::Undecodable(_) | CallOutcome::Unfinished { .. }
                if response.names_the_job() =>
            {
                watch.knew(self.began);
            }
            _ => {}
        }
        let name = name(response);
        let event = match &response.outcome {
            CallOutcome::Unauthorized => Some(BucketEvent::KeyRefused { key: self.key }),
            _ => pause_of(response),
        };
        let pause = match &response.outcome {
            CallOutcome::Unauthorized | CallOutcome::RateLimited | CallOutcome::Unavailable => {
                self.pause.min(MAX_PAUSE_WITHOUT_ANSWER)
            }
            _ => self.pause,
        };
        let polled = response.retry_after.unwrap_or_default().min(DAY);
        let after = match event {
            // The bucket waits for as long as the service asks for, and then the schedule of the job counts.
            Some(BucketEvent::RateLimited { .. } | BucketEvent::Unavailable { .. }) => pause,
            _ => pause.max(polled),
        };
        let quarantine = quarantine_cause(response);
        let outcome = match &response.outcome {
            CallOutcome::Complete(_) => PollOutcome::Answered(recorded(response)),
            // Kept, although it cannot be decoded now: a later version may be able to. One that names no job may come from
            // a proxy, and would take the place of the article.
            CallOutcome::Undecodable(_) if response.names_the_job() => match quarantine.clone() {
                Some(cause) => PollOutcome::Rejected { after, cause },
                None => PollOutcome::Answered(recorded(response)),
            },
            CallOutcome::Failed { .. } => {
                PollOutcome::Failed { answer: recorded(response), cause: response.to_string() }
            }
            CallOutcome::Draft { .. } | CallOutcome::FailedState { .. } => {
                self.confirm(response, after)
            }
            CallOutcome::Unfinished { .. } if response.names_the_job() => {
                PollOutcome::Unfinished { after, cause: response.to_string() }
            }
            CallOutcome::JobNotFound => self.missing(response, watch, after),
            _ => {
                let cause = quarantine.clone().unwrap_or_else(|| response.to_string());
                PollOutcome::Again { after, cause }
            }
        };
        Meaning { outcome, event, quarantine, name }
    }

    /// The meaning of a poll without an answer: nothing is known about the job.
    pub(crate) fn without_answer(&self, why: &NoAnswer) -> Meaning {
        let (name, cause) = match why {
            NoAnswer::Failed(error) => ("no_answer", error.to_string()),
            NoAnswer::Late => ("no_answer", "the call took longer than its time limit".to_owned()),
            NoAnswer::Panicked => ("panicked", "the poll panicked: see standard error".to_owned()),
            NoAnswer::Stopped => {
                ("stopped", "the collector stopped before the answer came".to_owned())
            }
        };
        let outcome = PollOutcome::Again { after: self.pause.min(MAX_PAUSE_WITHOUT_ANSWER), cause };
        Meaning { outcome, event: None, quarantine: None, name }
    }

    /// A draft, or a failure that is not in its documented form, ends the job if the answer before reported the same. The first
    /// time it is polled again after a minute. A draft that is written on is polled by the schedule.
    fn confirm(&self, response: &Response, after: Duration) -> PollOutcome {
        let statement = Digest::of(response.unconfirmed().unwrap_or_default());
        if self.job.unconfirmed == Some(statement) {
            return match &response.outcome {
                CallOutcome::Draft { .. } => PollOutcome::Answered(recorded(response)),
                _ => {
                    PollOutcome::Failed { answer: recorded(response), cause: response.to_string() }
                }
            };
        }
        let is_first = self.job.unconfirmed.is_none();
        let retry_after = response.retry_after.unwrap_or_default().min(DAY);
        let after = if is_first { retry_after } else { after }.max(CONFIRM_AFTER);
        PollOutcome::Unconfirmed { after, cause: response.to_string(), statement }
    }

    /// The service does not know the job. That ends the job only if the service has answered so for days, with a key that has
    /// known the job, and has known other jobs meanwhile: a key of another environment knows none, or only its own. Of a job
    /// that was ordered elsewhere, no key may be known: then any that knows other jobs counts.
    fn missing(&self, response: &Response, watch: &KeyWatch, after: Duration) -> PollOutcome {
        let cause = response.to_string();
        if self.job.key.is_some_and(|known| known != self.key) {
            let cause =
                format!("{cause} (the job is known to another API key: is this one right?)");
            return PollOutcome::Missing { after, cause };
        }
        let is_lost = self.job.missing.is_some_and(|Missing { times, since, .. }| {
            times.saturating_add(1) >= MIN_NOT_FOUND_ANSWERS
                && self.began.duration_since(since).unwrap_or_default() >= OVERDUE_AFTER
                && watch.has_known(since, self.began)
        });
        if is_lost {
            PollOutcome::NotFound { cause }
        } else {
            PollOutcome::Missing { after, cause }
        }
    }
}

/// Why an answer is kept in quarantine: in the words of a refused delivery, so that both have one cause. A page is a proxy's.
fn quarantine_cause(response: &Response) -> Option<String> {
    let of_body = |error: &DecodeError| match error.malformed() {
        Some(malformed) => Rejection::MalformedJson(malformed.clone()).to_string(),
        None => error.to_string(),
    };
    match &response.outcome {
        CallOutcome::OtherJob => Some(response.to_string()),
        CallOutcome::NotJson | CallOutcome::InvalidJobId => {
            let read = ArticleResult::from_json(&response.body);
            Some(read.map_or_else(|error| of_body(&error), |_| response.to_string()))
        }
        CallOutcome::Undecodable(error) => {
            let is_refused = error.malformed().is_some() || error.failure().is_some();
            (is_refused || !response.names_the_job()).then(|| of_body(error))
        }
        _ => None,
    }
}

/// Whether an answer to an order that the service did not take shows that it accepts the key: it has looked at the order
/// or at the credits. An answer with another code may come from a proxy.
pub(crate) fn accepts_the_key(response: &Response) -> bool {
    use ErrorCode::{CreditsExhausted, Ga4NotConnected, InvalidRequest, NotConfigured};
    match &response.outcome {
        CallOutcome::Failed { .. } => true,
        CallOutcome::Refused => matches!(
            response.code(),
            Some(CreditsExhausted | Ga4NotConnected | InvalidRequest | NotConfigured)
        ),
        _ => false,
    }
}

/// The pause of all calls that the service asks for: with a 429, and with an answer that it, or a proxy, cannot serve
/// any call now. The pause is never shortened: a call within it might renew it.
pub(crate) fn pause_of(response: &Response) -> Option<BucketEvent> {
    let retry_after = response.retry_after;
    match response.outcome {
        CallOutcome::RateLimited => {
            Some(BucketEvent::RateLimited { retry_after: retry_after.unwrap_or_default() })
        }
        CallOutcome::Unavailable => {
            retry_after.map(|retry_after| BucketEvent::Unavailable { retry_after })
        }
        _ => None,
    }
}

fn recorded(response: &Response) -> ApiAnswer {
    let bytes = response.body.clone();
    ApiAnswer { target: TARGET.into(), digest: Digest::of(&bytes), bytes }
}

fn name(response: &Response) -> &'static str {
    match &response.outcome {
        CallOutcome::Complete(_) => "complete",
        CallOutcome::Unfinished { .. } if response.names_the_job() => "unfinished",
        CallOutcome::Undecodable(_) if response.names_the_job() => "undecodable",
        CallOutcome::Unfinished { .. } | CallOutcome::Undecodable(_) => "no_job",
        CallOutcome::Draft { .. } => "draft",
        CallOutcome::Failed { .. } => "failed",
        CallOutcome::FailedState { .. } => "failed_state",
        CallOutcome::JobNotFound => "job_not_found",
        CallOutcome::NotFound => "not_found",
        CallOutcome::Unauthorized => "unauthorized",
        CallOutcome::Forbidden => "forbidden",
        CallOutcome::RateLimited => "rate_limited",
        CallOutcome::Unavailable => "unavailable",
        CallOutcome::Refused => "refused",
        CallOutcome::Redirect => "redirect",
        CallOutcome::UnknownStatus => "unknown_status",
        CallOutcome::OtherJob => "other_job",
        CallOutcome::InvalidJobId => "invalid_job_id",
        CallOutcome::Page => "page",
        CallOutcome::NotJson => "not_json",
        CallOutcome::TooLarge { .. } => "too_large",
        _ => "other",
    }
}

#[cfg(test)]
mod tests;
