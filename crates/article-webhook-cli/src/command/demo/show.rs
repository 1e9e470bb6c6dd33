//! What happened, on one line.

use std::time::Duration;

use article_webhook_inbox::Source;
use article_webhook_simulator::Attempt;
use serde_json::{Value, json};

use super::{
    receiver::Condition,
    record::{Happening, again_in, is_answer_lost},
};
use crate::{
    failure::Failure,
    output::{Output, Tone},
    text::escape,
    text::moment,
};

pub(super) fn show(happening: &Happening, output: &Output) -> Result<(), Failure> {
    let (kind, value) = value(happening);
    output.either(kind, &value, &line(happening, output))
}

fn value(happening: &Happening) -> (&'static str, Value) {
    match happening {
        Happening::Ordered { at, job_id, topic } => {
            let at = at.as_secs_f64();
            let value = json!({ "ordered": job_id.as_str(), "at_seconds": at, "topic": topic });
            ("ordered", value)
        }
        Happening::Attempted(attempt) => {
            let answer = &attempt.outcome.answer;
            let value = json!({
                "attempted": attempt.job_id,
                "at_seconds": attempt.at.as_secs_f64(),
                "attempt": attempt.number,
                "status": answer.as_ref().ok().map(|answer| answer.status),
                "error": answer.as_ref().err(),
                "answer_lost": is_answer_lost(attempt),
                "again_in_seconds": again_in(attempt).map(|pause| pause.as_secs()),
            });
            ("attempted", value)
        }
        Happening::Published { at, job_id, title, source } => {
            let value = json!({
                "published": job_id.as_str(),
                "at_seconds": at.as_secs_f64(),
                "title": title,
                "source": source.as_str(),
            });
            ("published", value)
        }
        Happening::Receiver { at, condition } => {
            let name = match condition {
                Condition::Works => "works",
                Condition::CannotStore => "cannot_store",
                Condition::Off => "off",
            };
            ("receiver", json!({ "receiver": name, "at_seconds": at.as_secs_f64() }))
        }
    }
}

fn line(happening: &Happening, output: &Output) -> String {
    let columns = |at: Duration, (tone, verb): (Tone, &str), job: &str, text: &str| {
        let time = output.paint(Tone::Quiet, &format!("{:>7}", moment::clock(at)));
        let verb = output.paint(tone, &format!("{verb:<9}"));
        format!("{time}  {verb}  {}  {}", escape::line(job), escape::line(text))
    };
    match happening {
        Happening::Ordered { at, job_id, topic } => {
            columns(*at, (Tone::Plain, "ordered"), job_id.as_str(), topic)
        }
        Happening::Attempted(attempt) => {
            let (verb, text) = attempted(attempt);
            columns(attempt.at, verb, &attempt.job_id, &text)
        }
        Happening::Published { at, job_id, title, source } => match source {
            Source::Api => {
                let text = format!("“{title}”, which the collector polled");
                columns(*at, (Tone::Good, "published"), job_id.as_str(), &text)
            }
            _ => columns(*at, (Tone::Good, "published"), job_id.as_str(), &format!("“{title}”")),
        },
        Happening::Receiver { at, condition } => {
            let (tone, text) = match condition {
                Condition::Works => (Tone::Good, "works again"),
                Condition::CannotStore => (Tone::Bad, "cannot store, and answers 503"),
                Condition::Off => (Tone::Bad, "is off: nothing listens on its port"),
            };
            columns(*at, (tone, "receiver"), text, "").trim_end().to_owned()
        }
    }
}

fn attempted(attempt: &Attempt) -> ((Tone, &'static str), String) {
    let what = format!("attempt {}: {}", attempt.number, answer(attempt));
    let next = match again_in(attempt) {
        Some(pause) => format!("again in {}", moment::span(pause)),
        None => "the service stops delivering".to_owned(),
    };
    match attempt.outcome.is_success() {
        true if is_answer_lost(attempt) => {
            ((Tone::Busy, "delivered"), format!("{what}, but the answer is lost; {next}"))
        }
        true => ((Tone::Good, "delivered"), what),
        false => ((Tone::Bad, "refused"), format!("{what}; {next}")),
    }
}

/// The status, or why there is none.
pub(super) fn answer(attempt: &Attempt) -> String {
    match &attempt.outcome.answer {
        Ok(answer) => answer.status.to_string(),
        Err(why) => root_cause(why).to_owned(),
    }
}

/// The last of several causes, without the number that the system has for it.
fn root_cause(causes: &str) -> &str {
    let last = causes.rsplit(": ").next().unwrap_or(causes);
    last.split(" (os error").next().unwrap_or(last)
}
