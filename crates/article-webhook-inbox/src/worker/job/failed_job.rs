use std::{collections::HashMap, fmt, sync::Arc, time::SystemTime};

use article_webhook::JobId;
use serde_json::{Number, value::RawValue};

use crate::{
    Body, Error,
    call::{Claimed, Completion, Lease},
    store::Ledger,
};

/// One attempt at the failure of a job: the argument of the handler of [`Worker::on_failure`](crate::Worker::on_failure).
///
/// The service has given the job up, and has refunded its credits (service document, section 7). What it said about that
/// is optional, field by field: a response that cannot be read comes as its [bytes](Self::body) alone.
///
/// ```
/// use std::sync::mpsc;
/// use article_webhook_inbox::{Digest, EntryKey, FailedJob, Inbox, MemoryStore, Source, store::{Arrival, Store}};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let store = MemoryStore::default();
///     let documented = r#"{"error": "generation_failed", "message": "It failed at outline.",
///         "details": {"step": "outline", "credits_refunded": 1}}"#;
///     for (job, says) in [("job_1", documented), ("job_2", "<html>")] {
///         let arrival = Arrival { // as the collector stores it
///             key: EntryKey::failure(job.parse()?),
///             source: Source::Api,
///             target: "api".into(),
///             intent: Some("post-17".into()),
///             digest: Digest::of(says.as_bytes()),
///             bytes: says.into(),
///         };
///         store.record(arrival).await?;
///     }
///
///     let (told, heard) = mpsc::channel();
///     let on_failure = move |job: FailedJob| {
///         told.send(job).expect("it is received below");
///         async { Ok(()) }
///     };
///     let inbox = Inbox::new(store);
///     inbox.worker(|_| async { Ok(()) }).concurrency(1).on_failure(on_failure).run_until_idle().await?;
///
///     let failed = heard.recv()?;
///     assert_eq!((failed.job_id().as_str(), failed.intent()), ("job_1", Some("post-17")));
///     assert_eq!((failed.step(), failed.credits_refunded()), (Some("outline"), Some(1)));
///     let unreadable = heard.recv()?;
///     assert_eq!((unreadable.code(), unreadable.step()), (None, None));
///     assert_eq!(unreadable.body(), "<html>");
///     Ok(())
/// }
/// ```
pub struct FailedJob {
    lease: Lease,
    job_id: JobId,
    attempt: u32,
    received_at: SystemTime,
    intent: Option<Box<str>>,
    body: Body,
    said: Said,
    store: Arc<dyn Ledger>,
}

impl FailedJob {
    pub(crate) fn new(claimed: Claimed, body: Body, store: Arc<dyn Ledger>) -> Self {
        let Claimed { lease, key, attempt, received_at, bodies, .. } = claimed;
        let intent = bodies.iter().find_map(|body| body.intent.clone());
        let said = body.bytes.as_deref().and_then(Said::read).unwrap_or_default();
        Self { lease, job_id: key.job_id, attempt, received_at, intent, body, said, store }
    }

    /// The job. It is the idempotency key, because a handler may run more than once for it.
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// The number of this attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// When the failure was stored.
    #[must_use]
    pub fn received_at(&self) -> SystemTime {
        self.received_at
    }

    /// The intent of the order, if the ledger knew it when the failure was stored.
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// The error code: `generation_failed`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.said.code.as_deref()
    }

    /// The message of the service, for a person.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.said.message.as_deref()
    }

    /// The step of the pipeline at which the job failed.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.said.step.as_deref()
    }

    /// The number of credits that were refunded.
    #[must_use]
    pub fn credits_refunded(&self) -> Option<i64> {
        self.said.credits_refunded
    }

    /// The response of the API, as it was received.
    #[allow(clippy::missing_panics_doc, reason = "a failed job has a body with bytes")]
    #[must_use]
    pub fn body(&self) -> &bytes::Bytes {
        self.body.bytes.as_ref().expect("a failed job has a body with bytes")
    }

    /// A statement that completes this job in a transaction of your own, as [`Job::completion`](crate::Job::completion).
    ///
    /// # Errors
    ///
    /// As for [`Job::completion`](crate::Job::completion).
    pub fn completion(&self) -> Result<Completion, Error> {
        self.store.completion(self.lease)
    }
}

/// Without what the service said.
impl fmt::Debug for FailedJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailedJob")
            .field("job_id", &self.job_id)
            .field("attempt", &self.attempt)
            .field("lease", &self.lease)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// The documented fields of an error.
#[derive(Default)]
struct Said {
    code: Option<String>,
    message: Option<String>,
    step: Option<String>,
    credits_refunded: Option<i64>,
}

/// The fields of an object, unread.
type Fields<'a> = HashMap<String, &'a RawValue>;

/// How much of a response is read as fields, in bytes: as fields, it takes more memory.
const MAX_READ: usize = 64 << 10;

impl Said {
    fn read(body: &[u8]) -> Option<Self> {
        if body.len() > MAX_READ {
            return None;
        }
        let documented: Fields<'_> = serde_json::from_slice(body).ok()?;
        let details = documented.get("details");
        let details = details.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let details: Fields<'_> = details.unwrap_or_default();
        // The document puts some fields of other errors beside the code.
        let field = |name| documented.get(name).or_else(|| details.get(name)).copied();
        Some(Self {
            code: documented.get("error").copied().and_then(text),
            message: field("message").and_then(text),
            step: field("step").and_then(text),
            credits_refunded: field("credits_refunded").and_then(integer),
        })
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// An integer, also when it is written as `1.0`.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range of i64")]
fn integer(raw: &RawValue) -> Option<i64> {
    let value: Number = serde_json::from_str(raw.get()).ok()?;
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(|&number| whole(number)).map(|n| n as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_read_by_itself() {
        let read = |body: &str| {
            let said = Said::read(body.as_bytes())?;
            Some((said.code.is_some(), said.message, said.step, said.credits_refunded))
        };
        let all = r#"{"error":"generation_failed","message":"m","details":{"step":"s","credits_refunded":2}}"#;
        assert_eq!(read(all), Some((true, Some("m".into()), Some("s".into()), Some(2))));
        let beside = r#"{"step":"s","credits_refunded":2.0,"details":7}"#;
        assert_eq!(read(beside), Some((false, None, Some("s".into()), Some(2))));
        let wrong = r#"{"error":null,"message":7,"details":{"step":["s"],"credits_refunded":2.5}}"#;
        assert_eq!(read(wrong), Some((false, None, None, None)));
        assert_eq!(read("<html>"), None);
        assert_eq!(read(&format!(r#"{{"step":"{}"}}"#, "s".repeat(MAX_READ))), None);
    }
}
