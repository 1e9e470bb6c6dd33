use std::time::SystemTime;

use article_webhook::JobId;
use serde::{Deserialize, Serialize};

use crate::{
    Body, Digest, Entry, EntryKey, Failure, Intent, MAX_BODIES_PER_ENTRY, Source, State,
    entry::FailureLine,
    timestamp::{END_OF_9999, from_millis, to_millis},
};

/// An entry as a line of JSON. Times are milliseconds since 1970. A body is its text.
#[derive(Serialize, Deserialize)]
pub(super) struct ExportLine {
    job_id: String,
    event: String,
    state: String,
    attempts: u32,
    received_at: u64,
    at: u64,
    since: u64,
    conflicts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FailureLine>,
    bodies: Vec<BodyLine>,
}

#[derive(Serialize, Deserialize)]
struct BodyLine {
    received_at: u64,
    source: String,
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    sha256: String,
    /// Missing if retention removed it or it is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl ExportLine {
    pub(super) fn new(entry: Entry, bodies: Vec<Body>) -> Self {
        Self {
            job_id: entry.key.job_id.as_str().to_owned(),
            event: entry.key.event.as_str().to_owned(),
            state: entry.state.as_str().to_owned(),
            attempts: entry.attempts,
            received_at: unsigned_millis(entry.received_at),
            at: unsigned_millis(entry.at),
            since: unsigned_millis(entry.since),
            conflicts: entry.conflicts,
            cause: entry.cause,
            failures: entry.failures.into_iter().map(FailureLine::from).collect(),
            bodies: bodies.into_iter().map(BodyLine::new).collect(),
        }
    }

    /// The entry, or what is wrong with the line. Its id has no meaning.
    pub(super) fn into_entry(self) -> Result<(Entry, Vec<Body>), String> {
        let job_id: JobId = self.job_id.parse().map_err(|_| "job_id: not a job id".to_owned())?;
        let state = State::from_name(&self.state).ok_or("state: not a state")?;
        let bodies: Result<Vec<_>, _> = self.bodies.into_iter().map(BodyLine::into_body).collect();
        let bodies = bodies?;
        let failures: Result<Vec<_>, _> = self
            .failures
            .into_iter()
            .map(|line| time(line.at).map(|_| Failure::from(line)))
            .collect();
        // One of the API may be kept beyond the limit. There is none if accidents left none.
        if bodies.len() > MAX_BODIES_PER_ENTRY + 1 {
            return Err(format!("bodies: expected at most {}", MAX_BODIES_PER_ENTRY + 1));
        }
        // Those without bytes may be damaged ones, which have one digest.
        let is_again = |(at, body): (usize, &Body)| {
            let mut others = bodies[..at].iter().filter(|other| other.bytes.is_some());
            body.bytes.is_some() && others.any(|other| other.digest == body.digest)
        };
        if bodies.iter().enumerate().any(is_again) {
            return Err("bodies: the same one twice".to_owned());
        }
        // Its bytes were damaged in the other store. It becomes corrupt here, so that the next delivery
        // repairs it.
        let is_lost = matches!(state, State::Waiting | State::Leased | State::Corrupt)
            && bodies.iter().all(|body| body.bytes.is_none());
        let state = if is_lost { State::Corrupt } else { state };
        let entry = Entry {
            id: 0,
            key: EntryKey { job_id, event: self.event.as_str().into() },
            state,
            attempts: self.attempts,
            received_at: time(self.received_at)?,
            target: bodies.first().map(|body| body.target.clone()).unwrap_or_default(),
            at: time(self.at)?,
            since: time(self.since)?,
            conflicts: self.conflicts,
            cause: self.cause,
            failures: failures?,
        };
        Ok((entry, bodies))
    }
}

impl BodyLine {
    fn new(body: Body) -> Self {
        let intact = body.bytes.as_ref().filter(|_| body.is_intact());
        let text = intact.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        Self {
            received_at: unsigned_millis(body.received_at),
            source: body.source.as_str().to_owned(),
            target: body.target.into(),
            // That of a damaged body may be none.
            intent: body.intent.filter(|name| Intent::check_name(name).is_ok()).map(Into::into),
            sha256: body.digest.to_string(),
            body: text,
        }
    }

    fn into_body(self) -> Result<Body, String> {
        let digest =
            Digest::from_hex(&self.sha256).ok_or("sha256: expected 64 hexadecimal digits")?;
        let body = Body {
            received_at: time(self.received_at)?,
            source: Source::from_name(&self.source).ok_or("source: not a source")?,
            target: self.target.into(),
            intent: self.intent.map(|name| intent("intent", name)).transpose()?,
            digest,
            bytes: self.body.map(Into::into),
        };
        if !body.is_intact() {
            return Err("body: not the one of which sha256 is the digest".to_owned());
        }
        Ok(body)
    }
}

/// A time that an import takes. That of a damaged row may be none.
pub(super) fn unsigned_millis(time: SystemTime) -> u64 {
    to_millis(time).min(END_OF_9999).unsigned_abs()
}

pub(super) fn time(millis: u64) -> Result<SystemTime, String> {
    let millis = i64::try_from(millis).ok().filter(|millis| *millis <= END_OF_9999);
    millis.map(from_millis).ok_or_else(|| "a time after the year 9999".to_owned())
}

/// The name of an intent, if it is one that can be ordered.
pub(super) fn intent(field: &str, name: String) -> Result<Box<str>, String> {
    Intent::check_name(&name).map_err(|error| format!("{field}: {error}"))?;
    Ok(name.into())
}
