use std::{fmt, io, time::Duration};

use tokio::{
    net::TcpStream,
    time::{Instant, timeout},
};

use crate::{
    CheckError, CheckReport, JOB_ID_PREFIX, TITLE,
    endpoint::{Endpoint, header_name},
    runner::run,
};

/// Cases that were not tried within this time fail.
const TIME_LIMIT: Duration = Duration::from_secs(55);

/// Checks the receiver at `url` with every case, in a few seconds, or a minute at most. It delivers articles, which
/// the application publishes if the token is right: see [`Check::notice`].
///
/// `url` is an `http` URL of this machine. `token` is the whole `Authorization` header that the receiver
/// accepts, scheme word included. [`Check::builder`] has settings.
///
/// # Errors
///
/// See [`CheckError`]. A receiver that fails the check is not an error: see [`CheckReport::is_conformant`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_webhook_axum::{AuthToken, Receiver, Reply, article_webhook::Delivery, receive};
/// use article_webhook_check::check_receiver;
/// use axum::{Router, routing::post};
///
/// const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";
///
/// let receiver = Receiver::new(AuthToken::new(TOKEN)?);
/// let store = async |_: Delivery| Reply::Stored;
/// let app = Router::new().route("/webhooks/articles", post(receive(receiver, store)));
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let url = format!("http://{}/webhooks/articles", listener.local_addr()?);
/// tokio::spawn(async { axum::serve(listener, app).await });
///
/// assert!(check_receiver(&url, TOKEN).await?.is_conformant());
/// assert!(!check_receiver(&url, "Bearer of another receiver").await?.is_conformant());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn check_receiver(url: &str, token: &str) -> Result<CheckReport, CheckError> {
    Check::new(url, token)?.run().await
}

/// A check of one receiver, ready to run.
///
/// ```
/// use article_webhook_check::{Check, CheckError};
///
/// let check = Check::new("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38")?;
/// assert!(!format!("{check:?}").contains("5f2b9c0e7a1d4e38"));
/// assert!(Check::new("http://127.0.0.1:3000", "").is_err()); // no receiver accepts this token
/// # Ok::<(), CheckError>(())
/// ```
#[must_use]
pub struct Check {
    endpoint: Endpoint,
}

impl Check {
    /// A check with the default settings of [`Check::builder`].
    ///
    /// # Errors
    ///
    /// The URL is not `http` on the loopback, or no receiver can accept the token.
    pub fn new(url: &str, token: &str) -> Result<Self, CheckError> {
        Self::builder(url, token).build()
    }

    /// Settings for a check of the receiver at `url` that accepts `token`.
    pub fn builder(url: &str, token: &str) -> CheckBuilder {
        CheckBuilder {
            url: url.to_owned(),
            token: token.to_owned(),
            hosts: Hosts::Loopback,
            event_header: None,
            job_id_header: None,
        }
    }

    /// What the check will do to the application behind the receiver, to be shown before [`run`](Self::run).
    ///
    /// ```
    /// use article_webhook_check::Check;
    ///
    /// let check = Check::new("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38")?;
    /// assert!(check.notice().contains("http://127.0.0.1:3000 will accept and publish"));
    /// # Ok::<(), article_webhook_check::CheckError>(())
    /// ```
    #[must_use]
    pub fn notice(&self) -> String {
        format!(
            "If the token is right, the application at {} will accept and publish some fifty articles. Their job ids \
             begin with `{JOB_ID_PREFIX}` and their title is `{TITLE}`, so that its handler can leave them out.",
            self.endpoint.origin(),
        )
    }

    /// Runs every case, or only the first ones if their failures [explain](CheckReport::stopped) all others.
    ///
    /// # Errors
    ///
    /// The host has no address, or does not accept connections.
    pub async fn run(mut self) -> Result<CheckReport, CheckError> {
        let start = Instant::now();
        self.connect().await?;
        let receiver = self.endpoint.origin();
        let (findings, stopped) = run(self.endpoint, start + TIME_LIMIT).await;
        Ok(CheckReport { receiver, findings, stopped, duration: start.elapsed() })
    }

    /// Chooses the first address that accepts a connection.
    async fn connect(&mut self) -> Result<(), CheckError> {
        let mut last = None;
        for address in self.endpoint.addresses().await? {
            let connecting =
                timeout(self.endpoint.response_timeout, TcpStream::connect(address)).await;
            match connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(_) => {
                    self.endpoint.address = address;
                    return Ok(());
                }
                Err(source) => last = Some(CheckError::Unreachable { address, source }),
            }
        }
        last.map_or(Ok(()), Err)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("receiver", &self.endpoint.origin()).finish_non_exhaustive()
    }
}

/// Settings of a [`Check`].
///
/// ```
/// use article_webhook_check::{Check, CheckError};
///
/// let builder = Check::builder("http://receiver.internal:3000/webhooks", "Bearer 5f2b9c0e7a1d4e38")
///     .event_header("X-Acme-Event")
///     .job_id_header("X-Acme-Job-Id");
/// assert!(matches!(builder.clone().build(), Err(CheckError::Remote)));
/// assert!(builder.clone().allow_remote().build().is_ok());
///
/// let wrong = builder.event_header("X Acme Event").allow_remote();
/// assert!(matches!(wrong.build(), Err(CheckError::HeaderName(_))));
/// ```
#[derive(Clone)]
#[must_use]
pub struct CheckBuilder {
    url: String,
    token: String,
    hosts: Hosts,
    event_header: Option<String>,
    job_id_header: Option<String>,
}

/// Which hosts may be checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hosts {
    Loopback,
    Any,
}

impl CheckBuilder {
    /// Allows a host that is not this machine. There is no TLS: the token can be read on the way.
    pub fn allow_remote(self) -> Self {
        Self { hosts: Hosts::Any, ..self }
    }

    /// The name of the header with the event: `X-Service-Event` unless set.
    pub fn event_header(self, name: &str) -> Self {
        Self { event_header: Some(name.to_owned()), ..self }
    }

    /// The name of the header with the job id: `X-Service-Job-Id` unless set.
    pub fn job_id_header(self, name: &str) -> Self {
        Self { job_id_header: Some(name.to_owned()), ..self }
    }

    /// Builds the check.
    ///
    /// # Errors
    ///
    /// The URL is not `http`, or its host is not this machine and was not [allowed](Self::allow_remote); no
    /// receiver can accept the token; a header name is not valid.
    pub fn build(self) -> Result<Check, CheckError> {
        let mut endpoint = Endpoint::new(&self.url, &self.token)?;
        if self.hosts == Hosts::Loopback && !endpoint.is_loopback() {
            return Err(CheckError::Remote);
        }
        if let Some(name) = self.event_header {
            endpoint.event_header = header_name(&name)?;
        }
        if let Some(name) = self.job_id_header {
            endpoint.job_id_header = header_name(&name)?;
        }
        Ok(Check { endpoint })
    }
}

/// Without the token and the path, which may be a secret.
impl fmt::Debug for CheckBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckBuilder").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_is_refused_with_the_reason() {
        let error = Check::new("http://10.0.0.1:3000/", "Bearer 5f2b9c0e7a1d4e38").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the URL's host is not this machine, and without TLS the token can be read on the way: \
             use CheckBuilder::allow_remote where that does no harm",
        );
    }
}
