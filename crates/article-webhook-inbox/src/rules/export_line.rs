#![expect(
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "an import takes every field"
)]

use std::time::SystemTime;

use article_webhook::{Event, JobId};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{BodyBytes, BodyRow, Bucket, EntryRows, IntentRow, JobRow, JobRows, Row};
use crate::{
    Body, Digest, EntryKey, Intent, IntentState, JobState, MAX_BODIES_PER_ENTRY, State, codec,
};

/// A line of an export: the document of a row, and the columns beside it. A new field of a document is in the export without
/// a word here. Ids and fences are left out, because they are those of one store. Times are milliseconds since 1970.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ExportLine {
    /// An entry with its bodies.
    Entry(EntryLine),
    /// What the ledger knows of a job. If it has an article whose entry is not here, retention has removed that.
    Job(JobLine),
    /// An intent.
    Intent(IntentLine),
    /// The bucket of the API.
    Bucket(Bucket),
}

/// An entry as a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EntryLine {
    /// The job.
    pub job_id: JobId,
    /// The event of the deliveries.
    pub event: Event,
    /// As [`Row::state`].
    #[serde(with = "codec::text")]
    pub state: State,
    /// As [`Row::attempts`].
    pub attempts: u32,
    /// When the first body was stored.
    #[serde(with = "codec::millis")]
    pub received_at: SystemTime,
    /// As [`Row::at`].
    #[serde(with = "codec::millis")]
    pub at: SystemTime,
    /// As [`Row::since`].
    #[serde(with = "codec::millis")]
    pub since: SystemTime,
    /// The rest of the row.
    #[serde(flatten)]
    pub document: Row,
    /// The bodies in the order of their arrival.
    pub bodies: Vec<BodyLine>,
}

/// A body as a part of a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BodyLine {
    /// When it was stored.
    #[serde(with = "codec::millis")]
    pub received_at: SystemTime,
    /// The SHA-256 of the bytes that were received.
    pub sha256: Digest,
    /// The rest of the row.
    #[serde(flatten)]
    pub document: BodyRow,
    /// Its text, or its bytes in hex if it is no UTF-8. Missing if retention removed it or it is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "codec::body")]
    pub body: Option<Bytes>,
}

/// A job as a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobLine {
    /// The job.
    pub job_id: JobId,
    /// As [`JobRow::state`].
    #[serde(with = "codec::text")]
    pub state: JobState,
    /// As [`JobRow::intent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Box<str>>,
    /// As [`JobRow::expected_at`].
    #[serde(with = "codec::millis")]
    pub expected_at: SystemTime,
    /// As [`JobRow::at`].
    #[serde(with = "codec::millis")]
    pub at: SystemTime,
    /// As [`JobRow::polls`].
    pub polls: u32,
    /// As [`JobRow::pushed_at`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "codec::optional_millis")]
    pub pushed_at: Option<SystemTime>,
    /// As [`JobRow::collected_at`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "codec::optional_millis")]
    pub collected_at: Option<SystemTime>,
    /// The rest of the row.
    #[serde(flatten)]
    pub document: JobRow,
}

/// An intent as a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IntentLine {
    /// The application's key of the order.
    pub name: Box<str>,
    /// As [`IntentRow::state`].
    #[serde(with = "codec::text")]
    pub state: IntentState,
    /// As [`IntentRow::created_at`].
    #[serde(with = "codec::millis")]
    pub created_at: SystemTime,
    /// As [`IntentRow::at`].
    #[serde(with = "codec::millis")]
    pub at: SystemTime,
    /// As [`IntentRow::job_id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// The rest of the row.
    #[serde(flatten)]
    pub document: IntentRow,
}

impl EntryLine {
    /// The line of an entry whose bodies were loaded. A body that is damaged is left out.
    #[must_use]
    pub fn new(job_id: &JobId, entry: &EntryRows, bodies: Vec<Body>) -> Option<Self> {
        let row = entry.row.get()?.clone();
        let bodies = entry.bodies().zip(bodies).map(|(row, body)| BodyLine::new(row, &body));
        let key = EntryKey { job_id: job_id.clone(), event: entry.event.clone() };
        Some(Self::of(key, entry.received_at, row, bodies.collect()))
    }

    /// The line of a row.
    pub(crate) fn of(
        key: EntryKey,
        received_at: SystemTime,
        document: Row,
        bodies: Vec<BodyLine>,
    ) -> Self {
        Self {
            job_id: key.job_id,
            event: key.event,
            state: document.state,
            attempts: document.attempts,
            received_at,
            at: document.at,
            since: document.since,
            document,
            bodies,
        }
    }

    /// The row.
    #[must_use]
    pub fn row(&self) -> Row {
        // Its bytes were damaged in the other store. It is corrupt here, so that the next delivery repairs it.
        let is_lost = matches!(self.state, State::Waiting | State::Leased | State::Corrupt)
            && self.bodies.iter().all(|body| body.body.is_none());
        let state = if is_lost { State::Corrupt } else { self.state };
        let document = Some(self.document.clone());
        let mut row = Row::read(document, (state, self.attempts, 0), (self.at, self.since));
        if is_lost {
            row.cause
                .get_or_insert_with(|| "its body was damaged where it was exported".to_owned());
        }
        row
    }

    /// # Errors
    ///
    /// No entry can have these bodies.
    fn validate(&self) -> Result<(), String> {
        // One of the API may be kept beyond the limit. There is none if accidents left none.
        if self.bodies.len() > MAX_BODIES_PER_ENTRY + 1 {
            return Err(format!("bodies: expected at most {}", MAX_BODIES_PER_ENTRY + 1));
        }
        let key = EntryKey { job_id: self.job_id.clone(), event: self.event.clone() };
        let is_possible = match self.state {
            State::Corrupt => true,
            state => key.is_quarantine() == (state == State::Quarantined),
        };
        if !is_possible {
            return Err("state: not one that this event can have".to_owned());
        }
        for (index, body) in self.bodies.iter().enumerate() {
            let Some(bytes) = &body.body else { continue };
            if Digest::of(bytes) != body.sha256 {
                return Err("body: not the one of which sha256 is the digest".to_owned());
            }
            // Those without bytes may be damaged ones, which have one digest.
            let mut others = self.bodies[..index].iter().filter(|other| other.body.is_some());
            if others.any(|other| other.sha256 == body.sha256) {
                return Err("bodies: the same one twice".to_owned());
            }
        }
        let mut intents = self.bodies.iter().filter_map(|body| body.document.intent.as_deref());
        intents.try_for_each(|name| validate_intent("intent", name))
    }
}

impl BodyLine {
    fn new(row: &BodyRow, body: &Body) -> Self {
        let mut document = row.clone();
        // That of a damaged body may be none.
        document.intent = document.intent.filter(|name| Intent::check_name(name).is_ok());
        Self {
            received_at: row.received_at,
            sha256: row.digest,
            document,
            body: body.bytes.clone().filter(|_| body.is_intact()),
        }
    }

    /// The row, with the bytes to be stored.
    #[must_use]
    pub fn row(&self) -> BodyRow {
        BodyRow {
            received_at: self.received_at,
            digest: self.sha256,
            bytes: self.body.clone().map_or(BodyBytes::Removed, BodyBytes::New),
            ..self.document.clone()
        }
    }
}

impl JobLine {
    /// The line of a job that the ledger knows.
    #[must_use]
    pub fn new(job: &JobRows) -> Option<Self> {
        Some(Self::of(job.job_id.clone(), job.expected.get()?.clone()))
    }

    /// The line of a row.
    pub(crate) fn of(job_id: JobId, document: JobRow) -> Self {
        Self {
            job_id,
            state: document.state,
            // A damaged name may be none.
            intent: document.intent.clone().filter(|name| Intent::check_name(name).is_ok()),
            expected_at: document.expected_at,
            at: document.at,
            polls: document.polls,
            pushed_at: document.pushed_at,
            collected_at: document.collected_at,
            document,
        }
    }

    /// The row.
    #[must_use]
    pub fn row(&self) -> JobRow {
        JobRow {
            state: self.state,
            intent: self.intent.clone(),
            expected_at: self.expected_at,
            at: self.at,
            polls: self.polls,
            pushed_at: self.pushed_at,
            collected_at: self.collected_at,
            ..self.document.clone()
        }
    }
}

impl IntentLine {
    /// The line of an intent. A damaged name may be none: no application orders it.
    #[must_use]
    pub fn new(name: &str, row: &IntentRow) -> Option<Self> {
        Intent::check_name(name).ok()?;
        Some(Self {
            name: name.into(),
            state: row.state,
            created_at: row.created_at,
            at: row.at,
            job_id: row.job_id.clone(),
            document: row.clone(),
        })
    }

    /// The row.
    #[must_use]
    pub fn row(&self) -> IntentRow {
        IntentRow {
            state: self.state,
            created_at: self.created_at,
            at: self.at,
            job_id: self.job_id.clone(),
            ..self.document.clone()
        }
    }
}

impl ExportLine {
    /// Checks what the types do not say.
    ///
    /// # Errors
    ///
    /// No store can have this row.
    pub(crate) fn validate(&self) -> Result<(), String> {
        match self {
            Self::Entry(entry) => entry.validate(),
            Self::Job(job) => {
                job.intent.as_deref().map_or(Ok(()), |name| validate_intent("intent", name))
            }
            Self::Intent(intent) => validate_intent("name", &intent.name),
            Self::Bucket(_) => Ok(()),
        }
    }
}

/// A name of an intent must be one that can be ordered.
fn validate_intent(field: &str, name: &str) -> Result<(), String> {
    Intent::check_name(name).map_err(|error| format!("{field}: {error}"))
}
