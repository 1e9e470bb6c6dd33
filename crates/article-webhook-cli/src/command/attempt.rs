//! An attempt of the simulated service to deliver, as `simulate` and `demo` show it.

use std::time::Duration;

use article_webhook_simulator::{Attempt, Fault, pause_after};
use serde_json::json;

use crate::{
    failure::Failure,
    output::{Output, Tone},
    text::{escape, moment},
};

pub(super) fn show(attempt: &Attempt, output: &Output) -> Result<(), Failure> {
    let (status, error) = match &attempt.outcome.answer {
        Ok(answer) => (Some(answer.status.as_u16()), None),
        Err(why) => (None, Some(why)),
    };
    let value = json!({
        "job_id": attempt.job_id,
        "attempt": attempt.number,
        "at_seconds": attempt.at.as_secs_f64(),
        "faults": attempt.faults,
        "status": status,
        "error": error,
        "milliseconds": u64::try_from(attempt.outcome.took.as_millis()).unwrap_or(u64::MAX),
        "again_in_seconds": pause(attempt).map(|pause| pause.as_secs()),
    });
    let verb = if attempt.outcome.is_success() { "delivered" } else { "refused" };
    // A lost answer is in the text.
    let faults: Vec<_> = attempt.faults.iter().filter(|it| **it != Fault::AnswerLost).collect();
    let faults = if faults.is_empty() { String::new() } else { format!("  {faults:?}") };
    let line = format!(
        "{}  {}  {}  {}{}",
        output.paint(Tone::Quiet, &format!("{:>7}", moment::clock(attempt.at))),
        output.paint(tone(attempt), &format!("{verb:<9}")),
        escape::line(&attempt.job_id),
        escape::line(&text(attempt)),
        output.paint(Tone::Quiet, &faults),
    );
    output.either("attempt", &value, &line)
}

/// The pause after which the service tries again. `None`: it does not.
pub(super) fn pause(attempt: &Attempt) -> Option<Duration> {
    let is_heard = attempt.outcome.is_success() && !is_answer_lost(attempt);
    if is_heard { None } else { pause_after(attempt.number) }
}

pub(super) fn tone(attempt: &Attempt) -> Tone {
    match attempt.outcome.is_success() {
        true if is_answer_lost(attempt) => Tone::Busy,
        true => Tone::Good,
        false => Tone::Bad,
    }
}

/// The status, or why there is none. Of an error of the system only the last cause, without its number.
pub(super) fn answer(attempt: &Attempt) -> String {
    match &attempt.outcome.answer {
        Ok(answer) => answer.status.as_u16().to_string(),
        Err(why) => match why.split_once(" (os error") {
            Some((causes, _)) => causes.rsplit(": ").next().unwrap_or_default().to_owned(),
            None => why.clone(),
        },
    }
}

fn text(attempt: &Attempt) -> String {
    let answer = format!("attempt {}: {}", attempt.number, answer(attempt));
    let next = match pause(attempt) {
        Some(pause) => format!("again in {}", moment::span(pause)),
        None => "the service stops delivering".to_owned(),
    };
    match tone(attempt) {
        Tone::Good => answer,
        Tone::Busy => format!("{answer}, but the answer is lost; {next}"),
        _ => format!("{answer}; {next}"),
    }
}

fn is_answer_lost(attempt: &Attempt) -> bool {
    attempt.faults.contains(&Fault::AnswerLost)
}
