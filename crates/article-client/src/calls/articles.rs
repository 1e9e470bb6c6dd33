use article_webhook::{ArticleResult, JobId};
use bytes::Bytes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiKey, Client, Complete, Created, Error, Job, NewArticle, Unfinished,
    error::{Kind, Malformed},
    http::{MAX_SHORT_BODY, shown},
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
        let created = Outline::read(&body).and_then(|outline| {
            let job_id = outline.job_id().and_then(|id| id.parse().ok());
            job_id.ok_or(Error::new(Kind::Malformed(Malformed::NoJobId)))
        });
        // The status was a success, so there is a job, but its id is unknown.
        let job_id = created.map_err(|error| Error::new(Kind::OutcomeUnknown(error)))?;
        Ok(Created { job_id, body })
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
        let call = |left| self.send(Method::GET, url.clone(), None, left);
        let body = retry(self.0.pauses, self.0.deadline, call, Error::is_transient).await?;
        decode_job(&self.0.key, job_id, body)
    }
}

/// The part of a response that says which job it is about and how far the job is. Both stay unread: as values, they
/// could take many times the memory of the response.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    job_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

impl<'a> Outline<'a> {
    fn read(body: &'a [u8]) -> Result<Self, Error> {
        let malformed = || Error::new(Kind::Malformed(Malformed::Json));
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(malformed()); // serde would accept an array for a struct
        }
        serde_json::from_slice(body).map_err(|_| malformed())
    }

    fn job_id(&self) -> Option<String> {
        serde_json::from_str(self.job_id?.get()).ok()
    }

    fn status(&self) -> Option<String> {
        serde_json::from_str(self.status?.get()).ok()
    }
}

fn decode_job(key: &ApiKey, asked: &JobId, body: Bytes) -> Result<Job, Error> {
    let outline = Outline::read(&body)?;
    if outline.job_id.is_some() && outline.job_id().as_deref() != Some(asked.as_str()) {
        return Err(Error::new(Kind::OtherJob));
    }
    let status = outline.status();
    if status.as_deref() != Some("complete") {
        if body.len() > MAX_SHORT_BODY {
            return Err(Error::new(Kind::TooLarge { limit: MAX_SHORT_BODY }));
        }
        let status = status.map(|status| shown(key, &status));
        return Ok(Job::Unfinished(Unfinished { status, body }));
    }
    let result = ArticleResult::from_json(&body)
        .map_err(|error| Error::new(Kind::Malformed(Malformed::Result(error))))?;
    Ok(Job::Complete(Box::new(Complete { result, body })))
}
