use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use article_webhook_client::{
    ApiKey, Created, Error, JobId, NewArticle, RawResponse, Response, StatusCode,
};
use article_webhook_collector::{Api, Calling};
use article_webhook_inbox::Clock;
use tokio::{sync::Notify, task::yield_now};

/// What the API does with a call.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// It answers with this status, `Retry-After` and body.
    Says(u16, &'static str, String),
    /// It answers with this status and the body of the request.
    Echoes(u16),
    /// Nothing was sent.
    Unreachable,
    /// The request was sent, and no answer comes.
    Unanswered,
    /// The code of the call panics.
    Panics,
    /// The call does not end.
    Hangs,
    /// The call waits for a notification, and then is answered with this status, `Retry-After` and body.
    Waits(Arc<Notify>, u16, &'static str, String),
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Says(status, "", String::new())
    }

    /// The answer to an order.
    pub(crate) fn created(job_id: &str) -> Self {
        Self::Says(202, "", format!(r#"{{"job_id":"{job_id}","status":"queued"}}"#))
    }

    /// The answer to a poll.
    pub(crate) fn complete(job_id: &str) -> Self {
        Self::Says(200, "", article(job_id))
    }

    /// The answer to a poll of a job that the service does not have.
    pub(crate) fn lost() -> Self {
        let lost = r#"{"error":"job_not_found","message":"no such job"}"#;
        Self::Says(404, "", lost.to_owned())
    }

    pub(crate) fn queued() -> Self {
        Self::Says(200, "", r#"{"status":"queued"}"#.to_owned())
    }
}

/// The result of a job, as it is delivered and as the API gives it.
pub(crate) fn article(job_id: &str) -> String {
    format!(
        r#"{{"job_id":"{job_id}","status":"complete","article":{{"title":"Shoes","html":"<article></article>","meta_title":"","meta_description":"","eeat_score":1,"word_count":1}}}}"#
    )
}

type Orders = Box<dyn FnMut() -> Reply + Send>;
type Polls = Box<dyn FnMut(&str) -> Reply + Send>;

/// An API without sockets. Clones are the same API.
#[derive(Clone)]
pub(crate) struct Script(Arc<Inner>);

struct Inner {
    clock: Clock,
    key: u64,
    orders: Mutex<Orders>,
    polls: Mutex<Polls>,
    /// The orders that were sent, as JSON would show them.
    ordered: Mutex<Vec<NewArticle>>,
    /// The jobs that were polled, and when.
    polled: Mutex<Vec<(SystemTime, String)>>,
    under_way: AtomicU32,
    most_under_way: AtomicU32,
}

impl Script {
    /// An API that knows no job.
    pub(crate) fn new(clock: Clock) -> Self {
        Self::with_key(clock, 17)
    }

    /// The same for another API key.
    pub(crate) fn with_key(clock: Clock, key: u64) -> Self {
        Self(Arc::new(Inner {
            clock,
            key,
            orders: Mutex::new(Box::new(|| Reply::created("job_1"))),
            polls: Mutex::new(Box::new(|_| Reply::lost())),
            ordered: Mutex::default(),
            polled: Mutex::default(),
            under_way: AtomicU32::new(0),
            most_under_way: AtomicU32::new(0),
        }))
    }

    /// What orders are answered.
    pub(crate) fn on_order(&self, reply: impl FnMut() -> Reply + Send + 'static) {
        *self.0.orders.lock().unwrap() = Box::new(reply);
    }

    /// Each poll is answered with this body.
    pub(crate) fn polls_say(&self, body: &str) {
        let reply = Reply::Says(200, "", body.to_owned());
        self.on_poll(move |_| reply.clone());
    }

    /// Orders are answered by this after a notification.
    pub(crate) fn orders_wait(&self, body: &'static str) -> Arc<Notify> {
        let answered = Arc::new(Notify::new());
        let until = answered.clone();
        self.on_order(move || Reply::Waits(until.clone(), 200, "", body.to_owned()));
        answered
    }

    /// What polls are answered, by the job.
    pub(crate) fn on_poll(&self, reply: impl FnMut(&str) -> Reply + Send + 'static) {
        *self.0.polls.lock().unwrap() = Box::new(reply);
    }

    pub(crate) fn orders(&self) -> usize {
        self.0.ordered.lock().unwrap().len()
    }

    pub(crate) fn last_order(&self) -> NewArticle {
        self.0.ordered.lock().unwrap().last().expect("there was one").clone()
    }

    /// The jobs that were polled.
    pub(crate) fn polled(&self) -> Vec<String> {
        self.0.polled.lock().unwrap().iter().map(|(_, job)| job.clone()).collect()
    }

    /// When jobs were polled.
    pub(crate) fn polled_at(&self) -> Vec<SystemTime> {
        self.0.polled.lock().unwrap().iter().map(|(at, _)| *at).collect()
    }

    /// How many polls were under way at the same time.
    pub(crate) fn most_under_way(&self) -> u32 {
        self.0.most_under_way.load(Ordering::SeqCst)
    }

    fn raw(&self, status: u16, retry_after: &str, body: String) -> RawResponse {
        let headers: &[(&str, &str)] = &[("Retry-After", retry_after)];
        let status = StatusCode::from_u16(status).unwrap();
        RawResponse::new(status, headers, body, self.0.clock.now())
    }

    async fn reply(&self, reply: Reply, sent: String) -> Result<RawResponse, Error> {
        match reply {
            Reply::Says(status, retry_after, body) => Ok(self.raw(status, retry_after, body)),
            Reply::Echoes(status) => Ok(self.raw(status, "", sent)),
            Reply::Unreachable => Err(Error::unreachable("planted")),
            Reply::Unanswered => Err(Error::unanswered("planted")),
            Reply::Panics => panic!("planted"),
            Reply::Hangs => pending().await,
            Reply::Waits(until, status, retry_after, body) => {
                until.notified().await;
                Ok(self.raw(status, retry_after, body))
            }
        }
    }
}

fn key() -> ApiKey {
    ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap()
}

impl Api for Script {
    fn create<'a>(&'a self, article: &'a NewArticle) -> Calling<'a, Created> {
        Box::pin(async move {
            self.0.ordered.lock().unwrap().push(article.clone());
            let order = serde_json::to_string(article).unwrap();
            let reply = self.0.orders.lock().unwrap()();
            Created::classify(&key(), article, self.reply(reply, order).await)
        })
    }

    fn poll<'a>(&'a self, job_id: &'a JobId) -> Calling<'a, Response> {
        Box::pin(async move {
            self.0.polled.lock().unwrap().push((self.0.clock.now(), job_id.to_string()));
            let under_way = self.0.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.most_under_way.fetch_max(under_way, Ordering::SeqCst);
            yield_now().await;
            let reply = self.0.polls.lock().unwrap()(job_id.as_str());
            let raw = self.reply(reply, String::new()).await;
            self.0.under_way.fetch_sub(1, Ordering::SeqCst);
            Ok(Response::classify(&key(), job_id, raw?))
        })
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn key_fingerprint(&self) -> u64 {
        self.0.key
    }
}
