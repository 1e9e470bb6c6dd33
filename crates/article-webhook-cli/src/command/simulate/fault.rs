//! Faults of the simulated service, as the command line names them.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use article_webhook_simulator::{Fault, Rule, StatusCode, Step};

use crate::text::moment;

/// What `--help` says about them.
pub(super) const HELP: &str = "\
Faults of deliveries:
  duplicate        sent twice              late=TIME     delayed
  answer-lost      the answer is lost      slow=TIME     the body comes in pieces
  wrong-token      another token           cut           the connection breaks
  no-token         no token                chunked       no length, which is valid
  truncated-body   half a body             large=BYTES   a large body
  unknown-event    another event           unknown-fields, missing-fields
  job-id-mismatch  two job ids
Faults of calls:
  api-latency=TIME  api-status=STATUS  api-rate-limited=TIME  api-malformed
Faults of jobs:
  step-fails=STEP (outline, research, draft, edit, image or social)
When, if not always:
  FAULT@attempt=N          at this attempt, from 1 to 4
  FAULT@nth=N              only the N-th time
  FAULT@probability=0.1    in one of ten cases";

/// A fault such as `late=30s`, with conditions such as `@attempt=1`.
pub(super) fn rule(text: &str) -> Result<Rule, String> {
    let mut parts = text.split('@');
    let mut rule = Rule::new(fault(parts.next().unwrap_or_default())?);
    for condition in parts {
        let (name, value) = condition.split_once('=').unwrap_or((condition, ""));
        rule = match name {
            "attempt" => rule.attempt(number(value, 1..=4)?),
            "nth" => rule.nth(number(value, 1..=u64::MAX)?),
            "probability" => rule.probability(number(value, 0.0..=1.0)?),
            _ => return Err("expected @attempt=N, @nth=N or @probability=PART".to_owned()),
        };
    }
    Ok(rule)
}

fn fault(text: &str) -> Result<Fault, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let needs = |what: &str| value.ok_or_else(|| format!("expected {name}={what}"));
    let time = || moment::age(needs("TIME")?);
    let fault = match name {
        "late" => Fault::Late(time()?),
        "slow" => Fault::Slow(time()?),
        "large" => Fault::Oversized(number(needs("BYTES")?, 1..=1 << 30)?),
        "api-latency" => Fault::ApiLatency(time()?),
        "api-status" => {
            let status = number(needs("STATUS")?, 200..=599)?;
            Fault::ApiStatus(StatusCode::from_u16(status).expect("it has three digits"))
        }
        "api-rate-limited" => Fault::ApiRateLimited(time()?),
        "step-fails" => Fault::StepFails(step(needs("STEP")?)?),
        _ if value.is_some() => return Err(format!("{name} takes no value, or is not a fault")),
        "duplicate" => Fault::Duplicate,
        "answer-lost" => Fault::AnswerLost,
        "wrong-token" => Fault::WrongToken,
        "no-token" => Fault::MissingToken,
        "truncated-body" => Fault::Truncated,
        "unknown-event" => Fault::UnknownEvent,
        "unknown-fields" => Fault::UnknownFields,
        "missing-fields" => Fault::MissingOptionalFields,
        "job-id-mismatch" => Fault::JobIdMismatch,
        "chunked" => Fault::Chunked,
        "cut" => Fault::Cut,
        "api-malformed" => Fault::ApiMalformed,
        _ => return Err("not a fault: see `article-webhook simulate --help`".to_owned()),
    };
    Ok(fault)
}

fn step(name: &str) -> Result<Step, String> {
    let step =
        Step::ALL.iter().copied().find(|step| format!("{step:?}").eq_ignore_ascii_case(name));
    step.ok_or_else(|| "expected outline, research, draft, edit, image or social".to_owned())
}

fn number<N>(text: &str, range: RangeInclusive<N>) -> Result<N, String>
where
    N: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| range.contains(number));
    let (least, most) = range.into_inner();
    number.ok_or_else(|| format!("expected a number from {least} to {most}, found `{text}`"))
}
