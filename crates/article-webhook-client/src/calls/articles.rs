use std::time::Duration;

use article_webhook::JobId;
use reqwest::Method;
use url::Url;

use super::post::{success, unreadable};
use crate::{
    ApiKey, CallOutcome, Client, Complete, Created, Error, JobStatus, NewArticle, RawResponse,
    Response, Unfinished,
    response::{Outline, Secrets},
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
        self.post(ARTICLES, article, &article.secrets(&self.0.key), Created::read).await
    }

    /// Orders an article with one attempt, which nothing repeats: for a caller with a schedule of its own.
    ///
    /// # Errors
    ///
    /// As [`create_article`](Self::create_article). Unless the outcome is [unknown](Error::is_outcome_unknown), the
    /// service has not taken the order.
    pub async fn create_article_once(&self, article: &NewArticle) -> Result<Created, Error> {
        self.post_once(ARTICLES, article, &article.secrets(&self.0.key), Created::read).await
    }

    /// Reads a job (service document, section 4: `GET /v1/content/articles/{job_id}`). The call is repeated, with
    /// pauses, while the error is [transient](Error::is_transient).
    ///
    /// # Errors
    ///
    /// The errors of the service (`job_not_found`, `generation_failed` for a job that failed), another
    /// [word](CallOutcome::FailedState) for a failure, no connection, a response for another job or in another format.
    pub async fn article(&self, job_id: &JobId) -> Result<JobStatus, Error> {
        let url = self.0.base.call(ARTICLES, Some(job_id))?;
        let call = async |left| self.ask(&url, job_id, left).await.and_then(JobStatus::of_response);
        retry(self.0.pauses, self.0.deadline, call, Error::is_transient).await
    }

    /// Reads a job with one attempt, which nothing repeats: for a caller with a schedule of its own. The
    /// [outcome](Response::outcome) says what was answered, and [`Response::retry_after`] how long to wait.
    ///
    /// # Errors
    ///
    /// No response: no connection, none in time, or the connection broke.
    pub async fn article_once(&self, job_id: &JobId) -> Result<Response, Error> {
        let url = self.0.base.call(ARTICLES, Some(job_id))?;
        self.ask(&url, job_id, Duration::MAX).await
    }

    async fn ask(&self, url: &Url, job_id: &JobId, left: Duration) -> Result<Response, Error> {
        let raw = self.send(Method::GET, url.clone(), None, left).await?;
        Ok(Response::classify(&self.0.key, job_id, raw))
    }
}

impl JobStatus {
    fn of_response(response: Response) -> Result<Self, Error> {
        match response.outcome {
            CallOutcome::Complete(result) => {
                Ok(Self::Complete(Box::new(Complete { result: *result, body: response.body })))
            }
            CallOutcome::Unfinished { status } => {
                let Response { retry_after, body, .. } = response;
                Ok(Self::Unfinished(Unfinished { status, retry_after, body, is_draft: false }))
            }
            CallOutcome::Draft { status } => {
                let Response { retry_after, body, .. } = response;
                Ok(Self::Unfinished(Unfinished { status, retry_after, body, is_draft: true }))
            }
            _ => Err(Error::of_response(response)),
        }
    }
}

impl Created {
    /// The meaning of what a transport brought after the order of `article`: for a transport of your own, such as that
    /// of a simulation. `key` is the key of the call: texts that are kept to be shown contain neither it nor the webhook
    /// URL of the order.
    ///
    /// # Errors
    ///
    /// As [`Client::create_article_once`].
    pub fn classify(
        key: &ApiKey,
        article: &NewArticle,
        sent: Result<RawResponse, Error>,
    ) -> Result<Self, Error> {
        Self::read(&article.secrets(key), sent)
    }

    fn read(secrets: &Secrets<'_>, sent: Result<RawResponse, Error>) -> Result<Self, Error> {
        let raw = success(secrets, sent)?;
        let mut repaired = None;
        let job_id = Outline::read_repaired(&raw.body, &mut repaired).and_then(|outline| {
            let job_id = outline.job_id().and_then(|id| id.parse().ok());
            job_id.ok_or(CallOutcome::NoJobId)
        });
        match job_id {
            Ok(job_id) => {
                let RawResponse { status, retry_after, body, .. } = raw;
                Ok(Self { job_id, status, retry_after, body })
            }
            Err(outcome) => Err(unreadable(raw, outcome)),
        }
    }
}
