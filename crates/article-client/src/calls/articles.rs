use article_webhook::{ArticleResult, JobId};
use bytes::Bytes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Client, Complete, Created, Error, Job, NewArticle, Unfinished,
    error::{Kind, Malformed},
    retry::retry,
};

const ARTICLES: &str = "/v1/content/articles";

impl Client {
    /// Orders an article (service document, section 4: `POST /v1/content/articles`).
    ///
    /// An order that was sent is never repeated, except after 429, because each order costs credits.
    ///
    /// # Errors
    ///
    /// The errors of the service (`credits_exhausted`, `not_configured`, `invalid_request`, `rate_limit_exceeded`,
    /// `generation_failed`), no connection, or an [unknown outcome](Error::is_outcome_unknown).
    pub async fn create_article(&self, article: &NewArticle) -> Result<Created, Error> {
        let body = self.post(ARTICLES, article).await?;
        let created = object(&body).and_then(|body| {
            let job_id = body.get("job_id").and_then(Value::as_str);
            let job_id = job_id.and_then(|id| id.parse().ok());
            let job_id = job_id.ok_or(Error::new(Kind::Malformed(Malformed::NoJobId)))?;
            Ok(Created { job_id, body: body.into() })
        });
        // The status was a success, so there is a job, but its id is unknown.
        created.map_err(|error| Error::new(Kind::OutcomeUnknown(error)))
    }

    /// Reads a job (service document, section 4: `GET /v1/content/articles/{job_id}`). The call is repeated, with
    /// pauses, while the error is [transient](Error::is_transient).
    ///
    /// # Errors
    ///
    /// The errors of the service (`job_not_found`, `generation_failed` for a job that failed), no connection, a
    /// response for another job or in another format.
    pub async fn article(&self, job_id: &JobId) -> Result<Job, Error> {
        let url = self.0.base.call(ARTICLES, Some(job_id))?;
        let call = || self.send(Method::GET, url.clone(), None);
        let body = retry(self.0.pauses, call, Error::is_transient).await?;
        decode_job(job_id, body)
    }
}

/// The part of a response that says which job it is about and how far the job is.
#[derive(Deserialize)]
struct Outline {
    job_id: Option<Value>,
    status: Option<Value>,
}

fn decode_job(asked: &JobId, body: Bytes) -> Result<Job, Error> {
    let malformed = || Error::new(Kind::Malformed(Malformed::Json));
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(malformed()); // serde would accept an array for a struct
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
