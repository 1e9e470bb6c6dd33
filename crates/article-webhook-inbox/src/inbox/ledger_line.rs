use std::time::SystemTime;

use article_webhook::JobId;
use serde::{Deserialize, Serialize};

use super::export_line::{intent, time, unsigned_millis};
use crate::{
    call::{ExpectedJob, Intent, IntentState, JobState, Missing},
    rules::{Bucket, BucketDocument},
    script::ImportRow,
};

/// A row of the ledger as a line of JSON, distinguished from an entry by its `kind`. Times are milliseconds since 1970.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum LedgerLine {
    Job(JobLine),
    Intent(IntentLine),
    Bucket(BucketDocument),
    /// Of a later version.
    #[serde(other)]
    Unknown,
}

#[derive(Serialize, Deserialize)]
pub(super) struct JobLine {
    job_id: String,
    state: String,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    expected_at: u64,
    at: u64,
    polls: u32,
    /// Missing in exports of versions that did not keep it, as is `unreadable_since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<MissingLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pushed_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collected_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unreadable_since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// Retention removed its entry. Missing in exports of versions that wrote all jobs before the entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_removed: bool,
}

#[derive(Serialize, Deserialize)]
struct MissingLine {
    times: u32,
    since: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct IntentLine {
    name: String,
    state: String,
    created_at: u64,
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
}

impl LedgerLine {
    pub(super) fn job(job: ExpectedJob) -> Self {
        Self::Job(JobLine::new(job))
    }

    /// A job whose entry retention removed.
    pub(super) fn removed(job: ExpectedJob) -> Self {
        Self::Job(JobLine { is_removed: true, ..JobLine::new(job) })
    }

    pub(super) fn intent(intent: Intent) -> Self {
        Self::Intent(IntentLine {
            name: intent.name.into(),
            state: intent.state.as_str().to_owned(),
            created_at: unsigned_millis(intent.created_at),
            at: unsigned_millis(intent.at),
            job_id: intent.job_id.map(|job_id| job_id.as_str().to_owned()),
        })
    }

    /// The bucket, unless it says no more than a new one.
    pub(super) fn bucket(bucket: &Bucket, now: SystemTime) -> Option<Self> {
        let is_new = bucket.full_at <= now && bucket.pause.is_none();
        let is_new = is_new && bucket.key_refused_at.is_none();
        (!is_new).then(|| Self::Bucket(bucket.into()))
    }

    /// The row, or what is wrong with the line, whose `kind` is this.
    pub(super) fn into_row(self, kind: &str) -> Result<ImportRow, String> {
        match self {
            Self::Unknown => Err(unknown(kind)),
            Self::Job(job) => {
                let row = if job.is_removed { ImportRow::RemovedJob } else { ImportRow::Job };
                job.into_job().map(row)
            }
            Self::Intent(intent) => intent.into_intent().map(ImportRow::Intent),
            Self::Bucket(bucket) => Ok(ImportRow::Bucket(bucket.into())),
        }
    }
}

impl JobLine {
    fn new(job: ExpectedJob) -> Self {
        let missing =
            |Missing { times, since }| MissingLine { times, since: unsigned_millis(since) };
        Self {
            job_id: job.job_id.as_str().to_owned(),
            state: job.state.as_str().to_owned(),
            reason: job.reason.to_string(),
            intent: job.intent.filter(|name| Intent::check_name(name).is_ok()).map(Into::into),
            expected_at: unsigned_millis(job.expected_at),
            at: unsigned_millis(job.at),
            polls: job.polls,
            key: job.key,
            missing: job.missing.map(missing),
            pushed_at: job.pushed_at.map(unsigned_millis),
            collected_at: job.collected_at.map(unsigned_millis),
            unreadable_since: job.unreadable_since.map(unsigned_millis),
            cause: job.cause,
            is_removed: false,
        }
    }

    fn into_job(self) -> Result<ExpectedJob, String> {
        let missing =
            |MissingLine { times, since }| Ok::<_, String>(Missing { times, since: time(since)? });
        Ok(ExpectedJob {
            id: 0,
            job_id: job_id(&self.job_id)?,
            state: JobState::from_name(&self.state).ok_or("state: not a state")?,
            reason: self.reason.parse().map_err(|_| "reason: not a reason")?,
            intent: self.intent.map(|name| intent("intent", name)).transpose()?,
            expected_at: time(self.expected_at)?,
            at: time(self.at)?,
            polls: self.polls,
            key: self.key,
            missing: self.missing.map(missing).transpose()?,
            pushed_at: self.pushed_at.map(time).transpose()?,
            collected_at: self.collected_at.map(time).transpose()?,
            unreadable_since: self.unreadable_since.map(time).transpose()?,
            cause: self.cause,
        })
    }
}

impl IntentLine {
    fn into_intent(self) -> Result<Intent, String> {
        Ok(Intent {
            id: 0,
            name: intent("name", self.name)?,
            state: IntentState::from_name(&self.state).ok_or("state: not a state")?,
            created_at: time(self.created_at)?,
            at: time(self.at)?,
            job_id: self.job_id.as_deref().map(job_id).transpose()?,
        })
    }
}

/// A kind is one short word. Anything else is not quoted: it may be part of a body.
fn unknown(kind: &str) -> String {
    let is_word = kind.len() <= 32 && kind.bytes().all(|byte| byte.is_ascii_lowercase());
    match is_word {
        true => format!("its kind {kind:?} is not known: a later version may have exported it"),
        false => "its kind is not one word".to_owned(),
    }
}

fn job_id(text: &str) -> Result<JobId, String> {
    text.parse().map_err(|_| "job_id: not a job id".to_owned())
}
