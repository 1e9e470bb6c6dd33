use std::{fmt, sync::Arc, time::Duration};

use reqwest::{
    header::{AUTHORIZATION, HeaderMap},
    redirect,
};

use super::client::{Client, Inner};
use crate::{
    ApiKey, Error,
    base_url::{BaseUrl, PlainHttp},
    error::Kind,
    retry::Pauses,
};

/// Settings of a [`Client`].
///
/// ```
/// use std::time::Duration;
/// use article_webhook_client::{ApiKey, Client, ClientBuilder};
///
/// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
/// let builder: ClientBuilder = Client::builder(key, "http://service.internal");
/// assert!(builder.clone().build().is_err()); // the key would be sent unencrypted
/// assert!(builder.clone().allow_http().build().is_ok());
///
/// let error = builder.allow_http().timeout(Duration::ZERO).build().unwrap_err();
/// assert_eq!(error.to_string(), "the timeout must be over 0 s");
/// # Ok::<(), article_webhook_client::KeyError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ClientBuilder {
    key: ApiKey,
    base_url: String,
    plain_http: PlainHttp,
    connect_timeout: Duration,
    timeout: Duration,
    deadline: Duration,
    body_limit: usize,
    pauses: Pauses,
    user_agent: String,
}

/// Why [`ClientBuilder::build`] refuses an https base URL.
const NO_TLS: &str = "is https, and this client has no TLS: enable the feature tls-aws-lc of article-webhook-client, or \
                      give ClientBuilder::build_with a client of reqwest that has TLS";

impl ClientBuilder {
    pub(super) fn new(key: ApiKey, base_url: &str) -> Self {
        Self {
            key,
            base_url: base_url.to_owned(),
            plain_http: PlainHttp::LoopbackOnly,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            deadline: Duration::from_secs(120),
            body_limit: 16 << 20,
            pauses: Pauses { first: Duration::from_millis(500), longest: Duration::from_secs(8) },
            user_agent: concat!("article-webhook-client/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Allows sending the key without TLS to a host that is not this machine.
    pub fn allow_http(self) -> Self {
        Self { plain_http: PlainHttp::Anywhere, ..self }
    }

    /// How long it may take to connect: 5 s unless set.
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// How long one attempt may take, with its response: 30 s unless set.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How long one call may take, with its repetitions and pauses: 2 minutes unless set. A call whose next pause would
    /// end later returns its last error at once.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The limit for a response with an article, in bytes: 16 MiB unless set. For other responses it is at most 1 MiB.
    /// A response and its article take at most about four times its length in memory, and a few MiB.
    pub fn body_limit(self, body_limit: usize) -> Self {
        Self { body_limit, ..self }
    }

    /// The first and the longest pause before a call is repeated: 500 ms and 8 s unless set. Each pause is prolonged
    /// by a random time, at most its own length. A call is repeated three times at most.
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        Self { pauses: Pauses { first, longest }, ..self }
    }

    /// The `User-Agent` header: `article-webhook-client/` and the version unless set.
    pub fn user_agent(self, user_agent: &str) -> Self {
        Self { user_agent: user_agent.to_owned(), ..self }
    }

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// As [`Client::new`]. A timeout or the limit is zero, the first pause is longer than the longest, or the user
    /// agent is not a valid header value.
    pub fn build(self) -> Result<Client, Error> {
        let base = BaseUrl::new(&self.base_url, self.plain_http)?;
        if !base.is_http() && !cfg!(feature = "tls-aws-lc") {
            return Err(Error::new(Kind::BaseUrl(NO_TLS)));
        }
        self.build_with(reqwest::Client::builder())
    }

    /// Builds the client on the application's own settings of reqwest: its TLS, its certificates, its proxy.
    ///
    /// These are replaced: the headers `Authorization` and `User-Agent`, the timeouts, redirects, retries and the referer,
    /// and for a base URL with plain `http` the proxies, which could read the key.
    ///
    /// ```
    /// use article_webhook_client::{ApiKey, Client};
    ///
    /// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
    /// let http = || reqwest::Client::builder().tcp_keepalive(None); // or `.tls_certs_merge(…)`, `.proxy(…)`
    /// assert!(Client::builder(key.clone(), "https://service.example").build_with(http()).is_ok());
    /// assert!(Client::builder(key, "service.example").build_with(http()).is_err()); // no scheme
    /// # Ok::<(), article_webhook_client::KeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), or reqwest refuses the settings. Whether this reqwest has TLS is not known before the
    /// first call.
    ///
    /// # Panics
    ///
    /// As reqwest does where its feature `rustls-no-provider` is on and the process has installed no provider of rustls.
    pub fn build_with(self, http: reqwest::ClientBuilder) -> Result<Client, Error> {
        let base = BaseUrl::new(&self.base_url, self.plain_http)?;
        self.validate()?;
        let mut http = http
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, self.key.header())]))
            .user_agent(self.user_agent)
            .connect_timeout(self.connect_timeout)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false);
        if base.is_http() {
            // A proxy could read the key.
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| Error::new(Kind::Setup(error)))?;
        Ok(Client(Arc::new(Inner {
            http,
            base,
            key: self.key,
            timeout: self.timeout,
            deadline: self.deadline,
            body_limit: self.body_limit,
            pauses: self.pauses,
        })))
    }

    fn validate(&self) -> Result<(), Error> {
        let setting = |message| Err(Error::new(Kind::Setting(message)));
        if self.connect_timeout.is_zero() {
            return setting("the connect_timeout must be over 0 s");
        }
        if self.timeout.is_zero() {
            return setting("the timeout must be over 0 s");
        }
        if self.deadline.is_zero() {
            return setting("the deadline must be over 0 s");
        }
        if self.body_limit == 0 {
            return setting("the body_limit must be at least 1 byte");
        }
        self.pauses.validate()
    }
}

/// Without the key, and without a base URL that holds credentials.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = BaseUrl::new(&self.base_url, self.plain_http).ok();
        f.debug_struct("ClientBuilder")
            .field("base_url", &base_url)
            .field("connect_timeout", &self.connect_timeout)
            .field("timeout", &self.timeout)
            .field("deadline", &self.deadline)
            .field("body_limit", &self.body_limit)
            .field("pauses", &self.pauses)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_needs_the_feature_that_the_error_names_or_the_applications_own_client() {
        let key = ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap();
        let builder = Client::builder(key, "https://service.example");
        let refused = builder.clone().build().err().map(|error| error.to_string());
        let message = "the base URL is https, and this client has no TLS: enable the feature tls-aws-lc of \
                       article-webhook-client, or give ClientBuilder::build_with a client of reqwest that has TLS";
        assert_eq!(refused, (!cfg!(feature = "tls-aws-lc")).then(|| message.to_owned()));
        assert!(builder.build_with(reqwest::Client::builder()).is_ok());
    }

    #[test]
    fn the_key_is_not_shown() {
        let key = ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap();
        let builder = Client::builder(key, "http://127.0.0.1:3000");
        let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
        assert!(!shown.contains("5f2b9c0e7a1d4e38"), "{shown}");
        assert!(shown.contains("http://127.0.0.1:3000"), "{shown}");
    }

    #[test]
    fn a_password_in_the_base_url_is_not_shown() {
        for base in
            ["https://user:pass-word@service.example", "http://user:pass-word@", "pass-word"]
        {
            let builder = Client::builder(ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap(), base);
            let error = builder.clone().build().unwrap_err();
            let shown = format!("{builder:?} {error:?}");
            assert!(!shown.contains("pass-word"), "{shown}");
            // `main` shows an error that it returns by `Debug`.
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
