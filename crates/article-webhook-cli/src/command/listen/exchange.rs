//! A request and its answer, which are shown as one line.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Instant, SystemTime},
};

use article_webhook::{Delivery, JobId, Receiver, Refused, Reply, Sink};
use article_webhook_inbox::{EntryKey, Inbox};
use article_webhook_tower::receive;
use axum::{
    body::{Body, to_bytes},
    extract::Request,
    response::Response,
};
use http::header::CONTENT_LENGTH;
use serde_json::{Value, json};
use tower_service::Service;

use super::{conflict, forward::Forwarding};
use crate::{
    output::{Output, Tone},
    text::{escape, moment},
};

/// The sink of one request: an inbox. What it keeps in quarantine no worker gets, so that is passed on from here.
#[derive(Clone)]
pub(super) struct Exchange {
    inbox: Inbox,
    /// As the command line names it.
    place: String,
    forwarding: Option<Arc<Forwarding>>,
    output: Output,
    seen: Arc<Mutex<Seen>>,
}

/// What the sink learns of a request.
#[derive(Default)]
struct Seen {
    job: Option<JobId>,
    kept: Option<Kept>,
}

struct Kept {
    reply: &'static str,
    tone: Tone,
    title: Option<String>,
    /// Why there is no title, or what became of another body.
    text: Option<String>,
}

impl Exchange {
    pub(super) fn new(
        inbox: &Inbox,
        place: &str,
        forwarding: Option<Arc<Forwarding>>,
        output: &Output,
    ) -> Self {
        let (inbox, output) = (inbox.clone(), output.clone());
        Self { inbox, place: place.to_owned(), forwarding, output, seen: Arc::default() }
    }

    pub(super) async fn answer(self, receiver: Receiver, request: Request) -> Response {
        // That of this request alone: requests are answered beside each other.
        let exchange = Self { seen: Arc::default(), ..self };
        let start = Instant::now();
        let bytes =
            request.headers().get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        let Ok(answer) = receive(receiver, exchange.clone()).call(request).await;
        let (head, body) = answer.into_parts();
        // It is constant, and short.
        let body = to_bytes(Body::new(body), usize::MAX).await.unwrap_or_default();
        let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        exchange.show(head.status.as_u16(), took, bytes, &body);
        Response::from_parts(head, body.into())
    }

    fn show(&self, status: u16, milliseconds: u64, bytes: Option<u64>, body: &[u8]) {
        let Seen { job, kept } = std::mem::take(&mut *self.seen());
        let job = job.as_ref().map(JobId::as_str);
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let code = value["error"].as_str().or(value["status"].as_str()).unwrap_or_default();
        let (kind, value, reply, tone, more) = match kept {
            Some(Kept { reply, tone, title, text }) => {
                let value = json!({
                    "delivered": job,
                    "reply": reply,
                    "status": status,
                    "milliseconds": milliseconds,
                    "bytes": bytes,
                    "title": title,
                    "text": text,
                });
                let title =
                    title.map(|title| format!("  “{}”", escape::line(&escape::cut(&title))));
                let text = text.map(|text| format!("\n  {}", escape::line(&text)));
                (
                    "delivery",
                    value,
                    reply,
                    tone,
                    [title, text].map(Option::unwrap_or_default).concat(),
                )
            }
            None => {
                let value = json!({
                    "code": code,
                    "job_id": job,
                    "status": status,
                    "milliseconds": milliseconds,
                    "bytes": bytes,
                });
                ("refusal", value, "refused", Tone::Bad, format!("  {code}"))
            }
        };
        let bytes = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
        let line = format!(
            "{}  {}  {}  {status} in {milliseconds} ms{bytes}{more}",
            moment::time_of_day(SystemTime::now()),
            escape::line(job.unwrap_or("no job")),
            self.output.paint(tone, reply),
        );
        // A queued line is no failure.
        let _ = self.output.either(kind, &value, &line);
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a delivery.
    async fn keep(&self, delivery: Delivery, key: &EntryKey, body: &[u8]) -> Reply {
        let reports_failure = key.is_article() && delivery.failure().is_some();
        let (title, mut text) = match delivery.decode() {
            Ok(result) => (Some(result.article.title), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let answer = self.inbox.accept(delivery).await;
        let (reply, tone) = match answer {
            Reply::Stored if reports_failure => ("quarantined", Tone::Busy),
            Reply::Stored => ("stored", Tone::Good),
            Reply::Duplicate => match conflict::other_body(&self.inbox, key, body).await {
                None => ("duplicate", Tone::Quiet),
                Some(other) => {
                    text = Some(other.text(&self.place, &key.job_id));
                    ("another body", Tone::Busy)
                }
            },
            Reply::Ignored => ("ignored", Tone::Quiet),
            _ => ("not stored", Tone::Bad),
        };
        *self.seen() =
            Seen { job: Some(key.job_id.clone()), kept: Some(Kept { reply, tone, title, text }) };
        answer
    }
}

impl Sink for Exchange {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let key = EntryKey { job_id: delivery.job_id().clone(), event: delivery.event().clone() };
        let body = delivery.body().clone();
        let reports_failure = key.is_article() && delivery.failure().is_some();
        let reply = self.keep(delivery, &key, &body).await;
        let Some(forwarding) = self.forwarding.as_ref().filter(|_| reports_failure) else {
            return reply;
        };
        // What the application did not take, the service delivers again.
        match forwarding.pass_on_once(key, body).await {
            true => reply,
            false => Reply::Retry,
        }
    }

    fn refused(&self, refused: &Refused) {
        self.seen().job = refused.job_id().cloned();
        self.inbox.refused(refused);
    }

    async fn keep_refused(&self, refused: Refused) {
        self.seen().job = refused.job_id().cloned();
        let body = refused.body().cloned();
        self.inbox.keep_refused(refused).await;
        if let (Some(forwarding), Some(body)) = (&self.forwarding, body) {
            let key = EntryKey { job_id: body.job_id().clone(), event: body.event().clone() };
            // It was refused here, so the service delivers it again in any case.
            forwarding.pass_on_once(key, body.bytes().clone()).await;
        }
    }
}
