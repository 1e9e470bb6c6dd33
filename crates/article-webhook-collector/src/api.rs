use std::{pin::Pin, time::Duration};

use article_webhook_client::{Client, Created, Error, JobId, NewArticle, Response};

/// The future that the calls of an [`Api`] return.
///
/// ```
/// use article_webhook_client::{Created, Error};
/// use article_webhook_collector::Calling;
///
/// fn no_network<'a>() -> Calling<'a, Created> {
///     Box::pin(async { Err(Error::unreachable("no network")) })
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     assert!(!no_network().await.unwrap_err().is_outcome_unknown());
/// }
/// ```
pub type Calling<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The two calls that a collector makes. A [`Client`] makes them over HTTP. A simulation implements this without
/// sockets.
///
/// Each call is one attempt, which nothing repeats: an order that was sent twice would be paid for twice, and the
/// collector has its own schedule.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_client::{ApiKey, Created, Error, JobId, NewArticle, RawResponse, Response, StatusCode};
/// use article_webhook_collector::{Api, Calling};
///
/// /// A service that takes every order and finishes none.
/// struct Slow(ApiKey);
///
/// impl Api for Slow {
///     fn create<'a>(&'a self, article: &'a NewArticle) -> Calling<'a, Created> {
///         let raw = RawResponse::new(StatusCode::ACCEPTED, &[("", ""); 0], r#"{"job_id":"job_1"}"#, SystemTime::now());
///         Box::pin(async { Created::classify(&self.0, article, Ok(raw)) })
///     }
///
///     fn poll<'a>(&'a self, job_id: &'a JobId) -> Calling<'a, Response> {
///         let raw = RawResponse::new(StatusCode::OK, &[("", ""); 0], r#"{"status":"queued"}"#, SystemTime::now());
///         Box::pin(async { Ok(Response::classify(&self.0, job_id, raw)) })
///     }
///
///     fn timeout(&self) -> Duration {
///         Duration::from_secs(30)
///     }
///
///     fn key_fingerprint(&self) -> u64 {
///         17
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let api = Slow(ApiKey::new("sk-5f2b9c0e7a1d4e38")?);
///     let created = api.create(&NewArticle::new("Shoes")).await?;
///     assert_eq!(created.job_id.as_str(), "job_1");
///     assert_eq!(api.poll(&created.job_id).await?.status, 200);
///     Ok(())
/// }
/// ```
pub trait Api: Send + Sync + 'static {
    /// Orders an article. Unless the outcome of an error is [unknown](Error::is_outcome_unknown), the service has not
    /// taken the order.
    fn create<'a>(&'a self, article: &'a NewArticle) -> Calling<'a, Created>;

    /// Polls a job.
    fn poll<'a>(&'a self, job_id: &'a JobId) -> Calling<'a, Response>;

    /// How long a call may take, up to an hour. One that takes longer is dropped.
    fn timeout(&self) -> Duration;

    /// A number that stands for the API key, the same in each process. A key that the service refuses is paused, and no
    /// other.
    fn key_fingerprint(&self) -> u64;
}

impl Api for Client {
    fn create<'a>(&'a self, article: &'a NewArticle) -> Calling<'a, Created> {
        Box::pin(self.create_article_once(article))
    }

    fn poll<'a>(&'a self, job_id: &'a JobId) -> Calling<'a, Response> {
        Box::pin(self.article_once(job_id))
    }

    fn timeout(&self) -> Duration {
        Self::timeout(self)
    }

    fn key_fingerprint(&self) -> u64 {
        Self::key_fingerprint(self)
    }
}
