use std::{fmt, sync::Arc, time::Duration};

use super::builder::ClientBuilder;
use crate::{ApiKey, Error, base_url::BaseUrl, retry::Pauses};

/// Calls the service. Cloning is cheap; clones share their connections.
///
/// ```
/// use article_webhook_client::{ApiKey, Client, Error, NewArticle};
///
/// /// Orders an article, and waits for it.
/// async fn title_of(client: &Client, topic: &str) -> Result<String, Error> {
///     let created = client.create_article(&NewArticle::new(topic)).await?;
///     let complete = client.wait(&created.job_id).await?;
///     Ok(complete.result.article.title)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
/// assert!(Client::new(key.clone(), "service.example").is_err()); // no scheme
///
/// // Nothing listens on port 1, so nothing is ordered, and the order may be repeated.
/// let client = Client::new(key, "http://127.0.0.1:1/api")?;
/// let error = title_of(&client, "How to choose running shoes").await.unwrap_err();
/// assert_eq!(error.to_string(), "the service cannot be reached");
/// assert!(error.is_transient() && !error.is_outcome_unknown());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) http: reqwest::Client,
    pub(crate) base: BaseUrl,
    pub(crate) key: ApiKey,
    pub(crate) timeout: Duration,
    pub(crate) deadline: Duration,
    pub(crate) body_limit: usize,
    pub(crate) pauses: Pauses,
}

impl Client {
    /// A client with the default settings of [`builder`](Self::builder).
    ///
    /// # Errors
    ///
    /// The base URL is not valid, or is `https` without the feature `tls-aws-lc`, or the HTTP client cannot be set up.
    pub fn new(key: ApiKey, base_url: &str) -> Result<Self, Error> {
        Self::builder(key, base_url).build()
    }

    /// Settings for a client. `base_url` is the part of the URLs before `/v1`.
    pub fn builder(key: ApiKey, base_url: &str) -> ClientBuilder {
        ClientBuilder::new(key, base_url)
    }

    /// How long one attempt at a call may take, from the connection to the end of the response.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }

    /// A number that distinguishes the API key from another, and from which the key cannot be found: a part of its hash. It is
    /// the same in every process. For the collector, which stores it.
    #[doc(hidden)]
    #[must_use]
    pub fn key_fingerprint(&self) -> u64 {
        self.0.key.fingerprint()
    }
}

/// Without the key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.0.base).finish_non_exhaustive()
    }
}
