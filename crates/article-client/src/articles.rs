use std::fmt;

use article_webhook::{ArticleResult, JobId};
use bytes::Bytes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Client, Error,
    error::{Kind, Malformed},
    retry::retry,
};

const ARTICLES: &str = "/v1/content/articles";

/// An order (document, section 4).
///
/// ```
/// use article_client::NewArticle;
/// use serde_json::json;
///
/// let order = NewArticle::new("How to choose running shoes")
///     .webhook_url("https://shop.example/webhooks/orders/secret-of-this-order")
///     .field("tone", json!("friendly"));
/// assert!(!format!("{order:?}").contains("secret")); // a capability URL is one
/// ```
#[derive(Clone)]
#[must_use]
pub struct NewArticle(Map<String, Value>);

impl NewArticle {
    /// What the article is about.
    ///
    /// ```
    /// let order = article_client::NewArticle::new("How to choose running shoes");
    /// # let _ = order;
    /// ```
    pub fn new(topic: &str) -> Self {
        Self(Map::new()).field("topic", topic.into())
    }

    /// Where this one article is delivered, beside the brand's publish targets.
    ///
    /// ```
    /// let order = article_client::NewArticle::new("Shoes").webhook_url("https://shop.example/webhooks/articles");
    /// # let _ = order;
    /// ```
    pub fn webhook_url(self, url: &str) -> Self {
        self.field("webhook_url", url.into())
    }

    /// Any field that the document does not show. The last one under a name counts.
    ///
    /// ```
    /// let order = article_client::NewArticle::new("Shoes").field("language", "pl".into());
    /// # let _ = order;
    /// ```
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }
}

impl fmt::Debug for NewArticle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.keys().collect();
        f.debug_struct("NewArticle").field("fields", &names).finish_non_exhaustive()
    }
}

/// A job that the service took.
///
/// ```
/// fn remember(created: &article_client::Created) -> String {
///     created.job_id.to_string()
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive] // the document shows no more of the answer
pub struct Created {
    /// By which its article is delivered and asked for.
    pub job_id: JobId,
    /// The whole answer, a JSON object.
    pub body: Value,
}

/// What the service says of a job.
///
/// ```
/// use article_client::Job;
///
/// fn title(job: &Job) -> Option<&str> {
///     match job {
///         Job::Complete(complete) => Some(&complete.result.article.title),
///         Job::Unfinished(_) => None,
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub enum Job {
    /// Its article is there.
    Complete(Box<Complete>),
    /// It is not complete. The document names no other state (section 3).
    Unfinished(Unfinished),
}

/// A job with its article.
///
/// ```
/// fn words(complete: &article_client::Complete) -> usize {
///     complete.result.article.html.as_untrusted_str().split_whitespace().count()
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Complete {
    /// The article.
    pub result: ArticleResult,
    /// The bytes it was read from: the same that are delivered by webhook.
    pub body: Bytes,
}

/// A job without an article.
///
/// ```
/// fn progress(job: &article_client::Unfinished) -> String {
///     format!("{:?}, {} bytes of JSON", job.status, job.body.len())
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Unfinished {
    /// Its `status`, if it is a string.
    pub status: Option<String>,
    /// The whole answer, a JSON object.
    pub body: Bytes,
}

impl Client {
    /// Orders an article (document, section 4: `POST /v1/content/articles`).
    ///
    /// An order that was sent is never repeated, except after 429: twice ordered is twice paid.
    ///
    /// # Errors
    ///
    /// The service's own (`credits_exhausted`, `not_configured`, `invalid_request`, `rate_limit_exceeded`,
    /// `generation_failed`), no connection, or an [unknown outcome](Error::is_outcome_unknown).
    ///
    /// ```no_run
    /// # async fn order(client: article_client::Client) -> Result<(), article_client::Error> {
    /// use article_client::{ErrorCode, NewArticle};
    ///
    /// match client.create_article(&NewArticle::new("How to choose running shoes")).await {
    ///     Ok(created) => println!("ordered: {}", created.job_id),
    ///     Err(error) if error.code() == Some(&ErrorCode::CreditsExhausted) => {
    ///         println!("no credits, see {:?}", error.upgrade_url());
    ///     }
    ///     Err(error) if error.is_outcome_unknown() => println!("it may arrive all the same"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_article(&self, article: &NewArticle) -> Result<Created, Error> {
        let body = self.post(ARTICLES, &article.0).await?;
        let created = object(&body).and_then(|body| {
            let job_id = body.get("job_id").and_then(Value::as_str);
            let job_id = job_id.and_then(|id| id.parse().ok());
            let job_id = job_id.ok_or(Error::new(Kind::Malformed(Malformed::NoJobId)))?;
            Ok(Created { job_id, body: body.into() })
        });
        // It was a success, so there is a job of which we do not know the name.
        created.map_err(|error| Error::new(Kind::OutcomeUnknown(error)))
    }

    /// Asks for a job (document, section 4: `GET /v1/content/articles/{job_id}`). Repeated, with pauses, while the
    /// error is [transient](Error::is_transient).
    ///
    /// # Errors
    ///
    /// The service's own (`job_not_found`, `generation_failed` for a job that failed), no connection, an answer
    /// about another job or of another shape.
    ///
    /// ```no_run
    /// # async fn ask(client: article_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use article_client::{ErrorCode, Job};
    ///
    /// match client.article(&"job_7c1e4a52".parse()?).await {
    ///     Ok(Job::Complete(complete)) => println!("{}", complete.result.article.title),
    ///     Ok(Job::Unfinished(job)) => println!("{:?}", job.status),
    ///     Err(error) if error.code() == Some(&ErrorCode::GenerationFailed) => {
    ///         println!("failed at {:?}, {:?} credits are back", error.step(), error.credits_refunded());
    ///     }
    ///     Err(error) => return Err(error.into()),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn article(&self, job_id: &JobId) -> Result<Job, Error> {
        let url = self.0.base.call(ARTICLES, Some(job_id))?;
        let ask = || self.send(Method::GET, url.clone(), None);
        let body = retry(self.0.pauses, ask, Error::is_transient).await?;
        job(job_id, body)
    }
}

/// What says which job an answer is about, without the article.
#[derive(Deserialize)]
struct Outline {
    job_id: Option<Value>,
    status: Option<Value>,
}

fn job(asked: &JobId, body: Bytes) -> Result<Job, Error> {
    let malformed = || Error::new(Kind::Malformed(Malformed::Json));
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(malformed()); // an array, for one, would do for a struct
    }
    let outline: Outline = serde_json::from_slice(&body).map_err(|_| malformed())?;
    if outline.job_id.is_some_and(|id| id != asked.as_str()) {
        return Err(Error::new(Kind::OtherJob));
    }
    let status = outline.status.as_ref().and_then(Value::as_str);
    if status != Some("complete") {
        let status = status.map(str::to_owned);
        return Ok(Job::Unfinished(Unfinished { status, body }));
    }
    let result = ArticleResult::from_json(&body)
        .map_err(|error| Error::new(Kind::Malformed(Malformed::Result(error))))?;
    Ok(Job::Complete(Box::new(Complete { result, body })))
}

fn object(body: &[u8]) -> Result<Map<String, Value>, Error> {
    serde_json::from_slice(body).map_err(|_| Error::new(Kind::Malformed(Malformed::Json)))
}

impl fmt::Debug for Complete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Complete").field("result", &self.result).finish_non_exhaustive()
    }
}

impl fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfinished").field("status", &self.status).finish_non_exhaustive()
    }
}
