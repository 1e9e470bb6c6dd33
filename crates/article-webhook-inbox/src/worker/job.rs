use std::{collections::HashMap, fmt, sync::Arc, time::SystemTime};

use article_webhook::{ArticleResult, Drift, Event, JobId, adapter::repair};
use serde_json::{Number, value::RawValue};

use super::attempt::AttemptResult;
use crate::{
    Body, EntryKey, Error, Source,
    call::{Claimed, Completion, Lease},
    store::Store,
};

/// One attempt at an entry: the argument of every handler of a [`Worker`](crate::Worker).
///
/// Its [kind](Self::kind) says what it is about: an [article](Self::article), the [failure](Self::failure) of a job, or a
/// delivery that is [no article](Self::cause) to this version. Each handler gets jobs of one kind.
///
/// ```
/// use article_webhook_inbox::{Failed, Inbox, Job, JobKind, State};
/// use article_webhook::{Sink, fixture};
///
/// async fn publish(job: Job) -> Result<(), Failed> {
///     let (key, title) = (job.job_id(), &job.article()?.article.title);
///     if title.is_empty() {
///         return Err(Failed::dead("an article without a title"));
///     }
///     println!("attempt {}: publishing {key} from target {}", job.attempt(), job.target());
///     assert_eq!(job.kind(), JobKind::Article);
///     let error = job.failure().unwrap_err();
///     assert_eq!(error.to_string(), "job_sample (article.complete) is no failure of a job: its handler is set by `Worker::on_failure`");
///     Ok(())
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().job_id("job_sample").delivery()?).await;
///     inbox.worker(publish).run_until_idle().await?;
///     assert_eq!(inbox.counts().await?.of(State::Done), 1);
///     Ok(())
/// }
/// ```
///
/// # Exactly once
///
/// Effects that are rows in the inbox's own database can happen exactly once: one transaction makes them and completes
/// the job, or neither happens. [`completion`](Self::completion) is the statement for that, for any driver of the
/// database. `cargo run --example exactly_once` shows both outcomes. `cargo run --example hand_over` is for effects
/// elsewhere, such as a job queue.
///
/// ```
/// use std::{path::Path, time::Duration};
/// use article_webhook_inbox::{Failed, Job};
/// use rusqlite::{Connection, TransactionBehavior, params_from_iter};
///
/// fn connect(path: &Path) -> rusqlite::Result<Connection> {
///     let connection = Connection::open(path)?;
///     connection.busy_timeout(Duration::from_secs(2))?;
///     connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?; // checkpoints belong to the inbox
///     Ok(connection)
/// }
///
/// fn store(job: &Job, application: &mut Connection) -> Result<(), Failed> {
///     let transaction = application.transaction_with_behavior(TransactionBehavior::Immediate)?;
///     let row = (job.job_id().as_str(), &job.article()?.article.title);
///     transaction.execute("INSERT INTO articles (job_id, title) VALUES (?1, ?2)", row)?;
///     let completion = job.completion()?;
///     let changed = transaction.execute(completion.sql(), params_from_iter(completion.parameters()))?;
///     completion.check(changed)?; // an error: the transaction is rolled back, and another worker makes the row
///     Ok(transaction.commit()?)
/// }
/// ```
///
/// Keep such a transaction short: deliveries wait for it, and are answered 503 after two seconds. In PostgreSQL no delivery
/// waits for it; the page of `article-webhook-postgres` shows it with tokio-postgres, sqlx, diesel and SeaORM.
pub struct Job {
    lease: Lease,
    job_id: JobId,
    event: Event,
    attempt: u32,
    received_at: SystemTime,
    intent: Option<Box<str>>,
    body: Body,
    bytes: bytes::Bytes,
    content: Content,
    store: Arc<dyn Store>,
}

/// What a [`Job`] is about. `match` needs no other arm than these three.
///
/// ```
/// use article_webhook_inbox::{Failed, Job, JobKind};
///
/// /// One function as the handler of all jobs.
/// async fn handle(job: Job) -> Result<(), Failed> {
///     match job.kind() {
///         JobKind::Article => println!("publish {}", job.article()?.article.title),
///         JobKind::Failure => println!("{} failed at {:?}", job.job_id(), job.failure()?.step),
///         _ => println!("{} bytes of {}", job.body().len(), job.job_id()), // undecodable
///     }
///     Ok(())
/// }
/// # let inbox = article_webhook_inbox::Inbox::memory();
/// # drop(inbox.worker(handle).on_failure(handle).on_undecodable(handle));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // there may be more kinds
pub enum JobKind {
    /// An article, for the handler of [`Inbox::worker`](crate::Inbox::worker).
    Article,
    /// The service gave the job up, for the handler of [`Worker::on_failure`](crate::Worker::on_failure).
    Failure,
    /// A delivery that is no article to this version, for the handler of
    /// [`Worker::on_undecodable`](crate::Worker::on_undecodable).
    Undecodable,
}

/// What the service reported about a job that it gave up. Each field is read by itself, and is `None` where the response has
/// none (service document, section 7). The response as it came is [`Job::body`].
///
/// ```
/// use article_webhook_inbox::{Inbox, Job, State};
/// # use article_webhook_inbox::{Digest, EntryKey, Source, store};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     let documented = r#"{"error": "generation_failed", "message": "It failed at outline.",
/// #         "details": {"step": "outline", "credits_refunded": 1}}"#;
///     let inbox = Inbox::memory();
/// #     for (job, says) in [("job_1", documented), ("job_2", "<html>")] {
/// #         let arrival = store::Arrival {
/// #             key: EntryKey::failure(job.parse()?),
/// #             source: Source::Api,
/// #             target: "api".into(),
/// #             intent: Some("post-17".into()),
/// #             digest: Digest::of(says.as_bytes()),
/// #             bytes: says.into(),
/// #         };
/// #         inbox.ledger().record(arrival).await?;
/// #     }
///     // A collector has stored the service's answers about two jobs: a documented one, and `<html>`.
///     let on_failure = |job: Job| async move {
///         assert_eq!(job.intent(), Some("post-17"));
///         let failure = job.failure()?;
///         match job.job_id().as_str() {
///             "job_1" => assert_eq!((failure.step.as_deref(), failure.credits_refunded), (Some("outline"), Some(1))),
///             _ => assert_eq!((&failure.code, &job.body()[..]), (&None, &b"<html>"[..])),
///         }
///         Ok(())
///     };
///     inbox.worker(|_| async { Ok(()) }).on_failure(on_failure).run_until_idle().await?;
///     assert_eq!(inbox.counts().await?.of(State::Done), 2);
///     Ok(())
/// }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive] // the service may say more
pub struct JobFailure {
    /// The error code: `generation_failed` in the documented form.
    pub code: Option<String>,
    /// The status, such as `failed` or `cancelled`, if the service reported the failure by it.
    pub status: Option<String>,
    /// The message of the service, for a person.
    pub message: Option<String>,
    /// The step of the pipeline at which the job failed.
    pub step: Option<String>,
    /// The number of credits that were refunded.
    pub credits_refunded: Option<i64>,
}

enum Content {
    Article(Box<ArticleResult>),
    Failure(JobFailure),
    Undecodable { cause: String },
}

impl Job {
    /// The job of a claimed entry, with what its article has that the service's document does not. An error: no body can be
    /// handed out.
    pub(super) fn of(
        claimed: Claimed,
        store: Arc<dyn Store>,
    ) -> Result<(Self, Vec<Drift>), AttemptResult> {
        let Claimed { lease, key, attempt, received_at, bodies, .. } = claimed;
        let Handed { index, content, drift } = Handed::of(&key, &bodies)?;
        let body = bodies[index].clone();
        let bytes = body.bytes.clone().unwrap_or_default();
        let others = by_rank(&bodies).into_iter().map(|(_, body)| body);
        let intent = [&body].into_iter().chain(others).find_map(|body| body.intent.clone());
        let (job_id, event) = (key.job_id, key.event);
        let job = Self {
            lease,
            job_id,
            event,
            attempt,
            received_at,
            intent,
            body,
            bytes,
            content,
            store,
        };
        Ok((job, drift))
    }

    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> JobKind {
        match self.content {
            Content::Article(_) => JobKind::Article,
            Content::Failure(_) => JobKind::Failure,
            Content::Undecodable { .. } => JobKind::Undecodable,
        }
    }

    /// The job's id. It is the idempotency key, because a handler may run more than once for it. For other
    /// [events](Self::event) than articles, the key is both of them.
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// The event of the entry: the one that was delivered, or that of a failure.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The number of this attempt, from 1. It is one more than the [attempts](crate::Worker::attempts) allowed if the
    /// process ended under the last of them.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The label of the publish target whose token the sender presented.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.body.target
    }

    /// The intent of the capability URL that it was delivered to, or of a failed job's order. If copies of the job came to a
    /// publish target and to such a URL, it is there whichever came first, and even if another copy was decoded. `None` if
    /// it was delivered by tokens alone.
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// How the body reached the inbox.
    #[must_use]
    pub fn source(&self) -> Source {
        self.body.source
    }

    /// When the first body of the entry was stored.
    #[must_use]
    pub fn received_at(&self) -> SystemTime {
        self.received_at
    }

    /// The article.
    ///
    /// # Errors
    ///
    /// The job is of another [kind](Self::kind). The handler of [`Inbox::worker`](crate::Inbox::worker) gets articles alone.
    pub fn article(&self) -> Result<&ArticleResult, Error> {
        match &self.content {
            Content::Article(article) => Ok(article),
            _ => Err(self.is_no("article", "`Inbox::worker`")),
        }
    }

    /// What the service reported about a job that it gave up.
    ///
    /// # Errors
    ///
    /// The job is of another [kind](Self::kind). The handler of [`Worker::on_failure`](crate::Worker::on_failure) gets
    /// failures alone.
    pub fn failure(&self) -> Result<&JobFailure, Error> {
        match &self.content {
            Content::Failure(failure) => Ok(failure),
            _ => Err(self.is_no("failure of a job", "`Worker::on_failure`")),
        }
    }

    /// Why a delivery is no article to this version; `None` for a job of another [kind](Self::kind).
    #[must_use]
    pub fn cause(&self) -> Option<&str> {
        match &self.content {
            Content::Undecodable { cause } => Some(cause),
            _ => None,
        }
    }

    /// The body as it was received: the one that the article was decoded from, or else the first that is intact.
    #[must_use]
    pub fn body(&self) -> &bytes::Bytes {
        &self.bytes
    }

    /// A statement that completes this job in a transaction of your own. It changes one row, or none if the lease is
    /// lost: [`check`](Completion::check) reports that, and then roll back. After the commit, return `Ok(())`. See
    /// [exactly once](#exactly-once).
    ///
    /// With [`SqliteStore`](crate::SqliteStore), open the same file, set `PRAGMA wal_autocheckpoint = 0` and a
    /// `busy_timeout`, and keep the transaction short: deliveries wait for it.
    ///
    /// # Errors
    ///
    /// The store has no SQL, or no other connection may write to it: a SQLite before 3.51.3 may lose commits of two
    /// connections. One build links one SQLite, so a crate such as sqlx 0.8 (SQLite 3.46) keeps rusqlite at a version
    /// with an older one. Until that crate is updated, make the effects repeatable: write rows with the job id as a
    /// unique key, and return `Ok`. An attempt that runs again then finds its row.
    pub fn completion(&self) -> Result<Completion, Error> {
        self.store.completion(self.lease)
    }

    fn is_no(&self, kind: &str, set_by: &str) -> Error {
        let (job, event) = (self.job_id.as_str(), self.event.as_str());
        Error::invalid(format!("{job} ({event}) is no {kind}: its handler is set by {set_by}"))
    }
}

/// Without what the service reported.
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("job_id", &self.job_id)
            .field("event", &self.event)
            .field("kind", &self.kind())
            .field("attempt", &self.attempt)
            .field("lease", &self.lease)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// Without what the service reported.
impl fmt::Debug for JobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobFailure").finish_non_exhaustive()
    }
}

/// The body of an entry that its handler gets, and what it says. Bodies are stored without being decoded.
struct Handed {
    index: usize,
    content: Content,
    drift: Vec<Drift>,
}

impl Handed {
    /// An error: no body can be handed out.
    fn of(key: &EntryKey, bodies: &[Body]) -> Result<Self, AttemptResult> {
        let order = by_rank(bodies);
        let plain = |index, content| Self { index, content, drift: Vec::new() };
        if key.is_failure() {
            let index = intact(&order)?;
            let failure = bodies[index].bytes.as_deref().and_then(JobFailure::read);
            return Ok(plain(index, Content::Failure(failure.unwrap_or_default())));
        }
        if key.event != Event::ArticleComplete {
            let cause = "an event that this version does not know".to_owned();
            return Ok(plain(intact(&order)?, Content::Undecodable { cause }));
        }
        let (mut first_cause, mut is_damaged) = (None, false);
        for (index, body) in &order {
            let Some(bytes) = &body.bytes else { continue };
            if !body.is_intact() {
                is_damaged = true;
                continue;
            }
            match ArticleResult::from_json_with_drift(bytes) {
                // A body in the wrong place: a receiver stores none of another job.
                Ok((article, _)) if article.job_id != key.job_id => is_damaged = true,
                Ok((article, drift)) => {
                    let content = Content::Article(Box::new(article));
                    return Ok(Self { index: *index, content, drift });
                }
                Err(error) => first_cause = first_cause.or(Some(error.to_string())),
            }
        }
        if is_damaged {
            return Err(AttemptResult::Damaged { seen: bodies.len() });
        }
        let cause = first_cause.unwrap_or_default();
        Ok(plain(intact(&order)?, Content::Undecodable { cause }))
    }
}

/// The bodies with their indexes, in the order in which they are read: what came by token or from the API outranks what came to
/// capability URLs.
fn by_rank(bodies: &[Body]) -> Vec<(usize, &Body)> {
    let mut order: Vec<_> = bodies.iter().enumerate().collect();
    order.sort_by_key(|(_, body)| body.is_by_capability());
    order
}

/// The index of the first body that is intact. What it says may have any form. The store claims no entry without bytes.
fn intact(order: &[(usize, &Body)]) -> Result<usize, AttemptResult> {
    let mut held = order.iter().filter(|(_, body)| body.bytes.is_some());
    let intact = held.find(|(_, body)| body.is_intact());
    intact.map(|(index, _)| *index).ok_or(AttemptResult::Damaged { seen: order.len() })
}

impl EntryKey {
    /// Which of the bodies of the entry its handler gets, as an index: the first that is an article of its job, or else the first
    /// that is intact. What came by token or from the API goes before what came to capability URLs. `None`: no body can be handed
    /// out, because retention has removed them or they are damaged.
    ///
    /// ```
    /// use article_webhook_inbox::{EntryKey, Inbox};
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     for title in ["First", "Second"] {
    ///         inbox.accept(fixture::complete().job_id("job_1").title(title).delivery()?).await;
    ///     }
    ///     let key = EntryKey::article("job_1".parse()?);
    ///     let (_, bodies) = inbox.show(key.clone()).await?.ok_or("it was just stored")?;
    ///     assert_eq!((bodies.len(), key.handed(&bodies)), (2, Some(0)));
    ///     assert_eq!(key.handed(&[]), None);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn handed(&self, bodies: &[Body]) -> Option<usize> {
        Handed::of(self, bodies).ok().map(|handed| handed.index)
    }
}

/// The fields of an object, unread.
type Fields<'a> = HashMap<String, &'a RawValue>;

/// How much of a response is read as fields, in bytes: as fields, it takes more memory.
const MAX_READ_BYTES: usize = 64 << 10;

impl JobFailure {
    fn read(body: &[u8]) -> Option<Self> {
        if body.len() > MAX_READ_BYTES {
            return None;
        }
        let repaired = repair(body);
        let body = repaired.as_deref().unwrap_or(body);
        let documented: Fields<'_> = serde_json::from_slice(body).ok()?;
        let details = documented.get("details");
        let details = details.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let details: Fields<'_> = details.unwrap_or_default();
        // The document puts some fields of other errors beside the code.
        let field = |name| documented.get(name).or_else(|| details.get(name)).copied();
        Some(Self {
            code: documented.get("error").copied().and_then(text),
            status: documented.get("status").copied().and_then(text),
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
    use std::time::SystemTime;

    use article_webhook::fixture;

    use super::*;
    use crate::{Digest, entry::CAPABILITY};

    fn body(bytes: &[u8]) -> Body {
        Body {
            received_at: SystemTime::UNIX_EPOCH,
            source: Source::Webhook,
            target: "default".into(),
            intent: None,
            digest: Digest::of(bytes),
            bytes: Some(bytes.to_vec().into()),
        }
    }

    fn damaged(bytes: &[u8]) -> Body {
        Body { digest: Digest::of(b"another"), ..body(bytes) }
    }

    fn article() -> Vec<u8> {
        fixture::complete().job_id("job_1").bytes().to_vec()
    }

    /// The index of the body that a handler gets, and why none is an article.
    fn handed(event: Event, bodies: &[Body]) -> Result<(usize, Option<String>), AttemptResult> {
        let key = EntryKey { job_id: "job_1".parse().unwrap(), event };
        let Handed { index, content, .. } = Handed::of(&key, bodies)?;
        assert_eq!(key.handed(bodies), Some(index));
        let cause = match content {
            Content::Undecodable { cause } => Some(cause),
            Content::Article(_) | Content::Failure(_) => None,
        };
        Ok((index, cause))
    }

    fn of_article(bodies: &[Body]) -> Result<(usize, Option<String>), AttemptResult> {
        handed(Event::ArticleComplete, bodies)
    }

    #[test]
    fn the_first_body_that_decodes_is_chosen() {
        let second = body(fixture::unicode().job_id("job_1").bytes());
        let bodies = [body(b"{}"), damaged(&article()), body(&article()), second.clone()];
        assert_eq!(of_article(&bodies), Ok((2, None)));
        let by_capability = Body { target: CAPABILITY.into(), ..body(&article()) };
        assert_eq!(of_article(&[by_capability.clone(), second]), Ok((1, None)));
        assert_eq!(of_article(&[by_capability, body(b"{}")]), Ok((0, None)));
    }

    #[test]
    fn the_intent_is_that_of_the_body_or_else_of_the_first_in_rank() {
        let with = |intent: &str, body: Body| Body { intent: Some(intent.into()), ..body };
        let capability = Body { target: CAPABILITY.into(), ..body(&article()) };
        let intent = |bodies: Vec<Body>| {
            let claimed = Claimed {
                lease: Lease { id: 1, fence: 1 },
                key: EntryKey::article("job_1".parse().unwrap()),
                attempt: 1,
                received_at: SystemTime::UNIX_EPOCH,
                runs_alone: false,
                bodies,
            };
            let store: Arc<dyn Store> = Arc::new(crate::MemoryStore::default());
            Job::of(claimed, store).unwrap().0.intent
        };
        let (url, odd) = (with("url", capability), with("odd", body(b"{}")));
        let token = body(fixture::unicode().job_id("job_1").bytes());
        assert_eq!(intent(vec![url.clone(), odd.clone(), token.clone()]).as_deref(), Some("odd"));
        assert_eq!(intent(vec![url.clone(), token.clone()]).as_deref(), Some("url"));
        assert_eq!(intent(vec![url, odd, with("own", token)]).as_deref(), Some("own"));
    }

    /// Neither a damaged body nor the article of another job is handed out.
    #[test]
    fn bodies_of_which_none_is_the_article_are_undecodable_or_damaged() {
        let none = || body(br#"{"job_id": "job_1"}"#);
        let other = || body(fixture::complete().job_id("job_2").bytes());
        let gone = Body { bytes: None, ..body(b"{}") };
        let of_the_first = "job_id: expected a job id, found nothing".to_owned();
        for (bodies, handed) in [
            (vec![body(b"{}"), none()], Ok((0, Some(of_the_first)))),
            (vec![damaged(&article())], Err(AttemptResult::Damaged { seen: 1 })),
            (vec![body(b"{}"), damaged(&article())], Err(AttemptResult::Damaged { seen: 2 })),
            (vec![other()], Err(AttemptResult::Damaged { seen: 1 })),
            (vec![other(), body(&article())], Ok((1, None))),
            (vec![gone], Err(AttemptResult::Damaged { seen: 1 })),
        ] {
            assert_eq!(of_article(&bodies), handed);
        }
        let key = EntryKey::article("job_1".parse().unwrap());
        assert_eq!(key.handed(&[]), None);
    }

    #[test]
    fn the_first_intact_body_of_a_failure_is_chosen_whatever_it_says() {
        let failure = |bodies: &[Body]| handed("generation failed".into(), bodies);
        assert_eq!(failure(&[damaged(b"{}"), body(b"<html>"), body(b"{}")]), Ok((1, None)));
        let gone = Body { bytes: None, ..body(b"{}") };
        assert_eq!(failure(&[gone, damaged(b"{}")]), Err(AttemptResult::Damaged { seen: 2 }));
    }

    #[test]
    fn each_field_is_read_by_itself() {
        let read = |body: &str| {
            let failure = JobFailure::read(body.as_bytes())?;
            Some((failure.code.is_some(), failure.message, failure.step, failure.credits_refunded))
        };
        let all = r#"{"error":"generation_failed","message":"m","details":{"step":"s","credits_refunded":2}}"#;
        assert_eq!(read(all), Some((true, Some("m".into()), Some("s".into()), Some(2))));
        let beside = r#"{"step":"s","credits_refunded":2.0,"details":7}"#;
        assert_eq!(read(beside), Some((false, None, Some("s".into()), Some(2))));
        let wrong = r#"{"error":null,"message":7,"details":{"step":["s"],"credits_refunded":2.5}}"#;
        assert_eq!(read(wrong), Some((false, None, None, None)));
        let half = r#"{"message":"half \ud83c","step":"s"}"#;
        assert_eq!(read(half), Some((false, Some("half \u{fffd}".into()), Some("s".into()), None)));
        assert_eq!(read("<html>"), None);
        let status = JobFailure::read(br#"{"job_id":"1","status":"cancelled"}"#).unwrap().status;
        assert_eq!(status.as_deref(), Some("cancelled"));
        assert_eq!(read(&format!(r#"{{"step":"{}"}}"#, "s".repeat(MAX_READ_BYTES))), None);
    }
}
