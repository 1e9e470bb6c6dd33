use std::{fmt, sync::Arc, time::Duration};

use reqwest::{
    header::{AUTHORIZATION, HeaderMap},
    redirect,
};

use crate::{ApiKey, Error, base_url::BaseUrl, error::Kind, retry::Pauses};

/// Calls the service. Cheap to clone; clones share their connections.
///
/// ```no_run
/// use article_client::{ApiKey, Client, NewArticle};
///
/// # async fn order() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(ApiKey::from_env("ARTICLE_API_KEY")?, "https://service.example/api")?;
/// let created = client.create_article(&NewArticle::new("How to choose running shoes")).await?;
/// let complete = client.wait(&created.job_id).await?;
/// println!("{}", complete.result.article.title);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) http: reqwest::Client,
    pub(crate) base: BaseUrl,
    pub(crate) key: ApiKey,
    pub(crate) body_limit: usize,
    pub(crate) pauses: Pauses,
}

impl Client {
    /// A client with the settings of [`builder`](Self::builder) as they are.
    ///
    /// # Errors
    ///
    /// The base URL cannot be right, or the HTTP client cannot be set up.
    ///
    /// ```
    /// use article_client::{ApiKey, Client};
    ///
    /// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// assert!(Client::new(key.clone(), "https://service.example/api").is_ok());
    /// assert!(Client::new(key, "service.example").is_err()); // no scheme
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn new(key: ApiKey, base_url: &str) -> Result<Self, Error> {
        Self::builder(key, base_url).build()
    }

    /// Settings for a client. `base_url` is what stands in front of `/v1`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use article_client::{ApiKey, Client};
    ///
    /// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let client = Client::builder(key, "https://service.example/api")
    ///     .timeout(Duration::from_secs(10))
    ///     .build()?;
    /// assert!(!format!("{client:?}").contains("sk-5f2b9c0e7a1d4e38"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(key: ApiKey, base_url: &str) -> ClientBuilder {
        ClientBuilder {
            key,
            base_url: base_url.to_owned(),
            allows_http: false,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            body_limit: 16 << 20,
            pauses: [Duration::from_millis(500), Duration::from_secs(8)],
            user_agent: concat!("article-client/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.0.base).finish_non_exhaustive()
    }
}

/// Settings of a [`Client`].
///
/// ```
/// use article_client::{ApiKey, Client, ClientBuilder};
///
/// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
/// let inside: ClientBuilder = Client::builder(key, "http://service.internal");
/// assert!(inside.clone().build().is_err());
/// assert!(inside.allow_http().build().is_ok());
/// # Ok::<(), article_client::KeyError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ClientBuilder {
    key: ApiKey,
    base_url: String,
    allows_http: bool,
    connect_timeout: Duration,
    timeout: Duration,
    body_limit: usize,
    pauses: Pauses,
    user_agent: String,
}

impl ClientBuilder {
    /// Lets the key travel without TLS to a host that is not this machine.
    ///
    /// ```
    /// # use article_client::{ApiKey, Client};
    /// # let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// assert!(Client::builder(key, "http://service.internal").allow_http().build().is_ok());
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn allow_http(self) -> Self {
        Self { allows_http: true, ..self }
    }

    /// How long a connection may take to come about: 5 s unless set.
    ///
    /// ```
    /// # use {article_client::{ApiKey, Client}, std::time::Duration};
    /// # let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let settings = Client::builder(key, "https://service.example").connect_timeout(Duration::from_secs(1));
    /// # let _ = settings;
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// How long an attempt may take in all, its answer included: 30 s unless set.
    ///
    /// ```
    /// # use {article_client::{ApiKey, Client}, std::time::Duration};
    /// # let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let settings = Client::builder(key, "https://service.example").timeout(Duration::from_secs(60));
    /// # let _ = settings;
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How many bytes an article's answer may have: 16 MiB unless set. Any other may have one MiB of it.
    ///
    /// ```
    /// # use article_client::{ApiKey, Client};
    /// # let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let settings = Client::builder(key, "https://service.example").body_limit(1 << 20);
    /// # let _ = settings;
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn body_limit(self, body_limit: usize) -> Self {
        Self { body_limit, ..self }
    }

    /// The first and the longest pause before a call is repeated: 500 ms and 8 s unless set. To each, a drawn part
    /// of it is added. A call is repeated three times at most.
    ///
    /// ```
    /// # use {article_client::{ApiKey, Client}, std::time::Duration};
    /// # let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let settings = Client::builder(key, "https://service.example")
    ///     .pauses(Duration::from_secs(1), Duration::from_secs(30));
    /// # let _ = settings;
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        Self { pauses: [first, longest], ..self }
    }

    /// What the client calls itself: `article-client/` and its version unless set.
    ///
    /// ```
    /// # use article_client::{ApiKey, Client};
    /// let builder = |agent| Ok::<_, article_client::KeyError>(
    ///     Client::builder(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "https://service.example").user_agent(agent));
    /// assert!(builder("my-shop/1.0")?.build().is_ok());
    /// assert!(builder("two\nlines")?.build().is_err());
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn user_agent(self, user_agent: &str) -> Self {
        Self { user_agent: user_agent.to_owned(), ..self }
    }

    /// The client.
    ///
    /// # Errors
    ///
    /// As [`Client::new`]; the user agent is no header.
    ///
    /// ```
    /// # use article_client::{ApiKey, Client};
    /// # let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let error = Client::builder(key, "https://key@service.example").build().unwrap_err();
    /// assert_eq!(error.to_string(), "the base URL holds credentials: the API key is given apart");
    /// # Ok::<(), article_client::KeyError>(())
    /// ```
    pub fn build(self) -> Result<Client, Error> {
        let base = BaseUrl::new(&self.base_url, self.allows_http)?;
        // The process may have chosen another; then that one counts.
        #[cfg(feature = "ring")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, self.key.header())]))
            .user_agent(self.user_agent)
            .connect_timeout(self.connect_timeout)
            .timeout(self.timeout)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false);
        if base.is_http() {
            // Without TLS, a proxy would read the key.
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| Error::new(Kind::Setup(error)))?;
        Ok(Client(Arc::new(Inner {
            http,
            base,
            key: self.key,
            body_limit: self.body_limit,
            pauses: self.pauses,
        })))
    }
}
