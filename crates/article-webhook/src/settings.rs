use std::{fmt, time::Duration};

use http::HeaderName;

use crate::{Receiver, Targets};

/// Settings of a [`Receiver`], all optional.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
/// let receiver = Receiver::builder(token.clone())
///     .event_header("X-Acme-Event")
///     .job_id_header("X-Acme-Job-Id")
///     .strict()
///     .build()?;
///
/// let invalid = Receiver::builder(token).event_header("X Acme Event").build();
/// assert_eq!(
///     invalid.unwrap_err().to_string(),
///     "`X Acme Event` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is built before `build`"]
pub struct ReceiverBuilder {
    targets: Targets,
    settings: Settings,
    invalid: Option<SettingsError>,
}

impl ReceiverBuilder {
    pub(crate) fn new(targets: Targets) -> Self {
        Self { targets, settings: Settings::default(), invalid: None }
    }

    /// The most bytes a body may have; 8 MiB by default. A longer one is answered with 413, and
    /// the service cannot deliver it by retrying: set it generously.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let receiver = Receiver::builder(token).body_limit(16 << 20).build()?;
    /// assert_eq!(receiver.body_limit(), 16 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// The name of the header with the event; `X-Service-Event` by default.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let receiver = Receiver::builder(token).event_header("X-Acme-Event").build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn event_header(mut self, name: &str) -> Self {
        match header_name(name) {
            Ok(name) => self.settings.event_header = name,
            Err(error) => self.invalid = Some(error),
        }
        self
    }

    /// The name of the header with the job id; `X-Service-Job-Id` by default.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let receiver = Receiver::builder(token).job_id_header("X-Acme-Job-Id").build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn job_id_header(mut self, name: &str) -> Self {
        match header_name(name) {
            Ok(name) => self.settings.job_id_header = name,
            Err(error) => self.invalid = Some(error),
        }
        self
    }

    /// Refuses a delivery that lacks one of the service's headers (400), even if its body says all
    /// that is needed. By default such a delivery is let in, because proxies strip `X-` headers.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json")];
    /// assert!(Receiver::new(token.clone()).open(&headers).is_ok());
    ///
    /// let strict = Receiver::builder(token).strict().build()?;
    /// assert_eq!(strict.open(&headers).unwrap_err().to_string(), "the event header is missing");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn strict(mut self) -> Self {
        self.settings.strict = true;
        self
    }

    /// Answers an unknown event with 422 instead of 200, in extractor style. The service retries it
    /// in vain, but its own log shows that something was not understood.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    ///                ("X-Service-Event", "article.updated"), ("X-Service-Job-Id", "job_1")];
    /// let body = r#"{"job_id": "job_1"}"#;
    ///
    /// let lenient = Receiver::new(token.clone());
    /// assert_eq!(lenient.open(&headers)?.article(body).unwrap_err().answer().status(), 200);
    ///
    /// let refusing = Receiver::builder(token).refuse_unknown_events().build()?;
    /// assert_eq!(refusing.open(&headers)?.article(body).unwrap_err().answer().status(), 422);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refuse_unknown_events(mut self) -> Self {
        self.settings.refuse_unknown_events = true;
        self
    }

    /// How long a sink may take before the service is told to come again (503); 5 seconds by
    /// default. The sink's work goes on all the same.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let receiver = Receiver::builder(token).sink_deadline(Duration::from_secs(2)).build()?;
    /// assert_eq!(receiver.sink_deadline(), Duration::from_secs(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sink_deadline(mut self, deadline: Duration) -> Self {
        self.settings.sink_deadline = deadline;
        self
    }

    /// Builds the receiver.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] for a name that is no header's, for a header that would have two
    /// meanings, and for a limit of no bytes.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// assert!(Receiver::builder(token.clone()).build().is_ok());
    /// assert!(Receiver::builder(token).job_id_header("Authorization").build().is_err());
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    pub fn build(self) -> Result<Receiver, SettingsError> {
        if let Some(invalid) = self.invalid {
            return Err(invalid);
        }
        let Settings { body_limit, event_header, job_id_header, sink_deadline, .. } =
            &self.settings;
        if *body_limit == 0 {
            return Err(SettingsError::NoBody);
        }
        if sink_deadline.is_zero() {
            return Err(SettingsError::NoTime);
        }
        let taken = [
            http::header::AUTHORIZATION,
            http::header::CONNECTION,
            http::header::CONTENT_ENCODING,
            http::header::CONTENT_LENGTH,
            http::header::CONTENT_TYPE,
            http::header::EXPECT,
            http::header::HOST,
            http::header::TRANSFER_ENCODING,
        ];
        for name in [event_header, job_id_header] {
            if taken.contains(name) {
                return Err(SettingsError::HeaderTaken { name: name.to_string() });
            }
        }
        if event_header == job_id_header {
            return Err(SettingsError::HeaderTaken { name: event_header.to_string() });
        }
        Ok(Receiver::from_parts(self.targets, self.settings))
    }
}

impl fmt::Debug for ReceiverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverBuilder").field("targets", &self.targets).finish_non_exhaustive()
    }
}

fn header_name(name: &str) -> Result<HeaderName, SettingsError> {
    name.parse().map_err(|_| SettingsError::HeaderName { name: name.into() })
}

/// Why a receiver cannot be built.
///
/// ```
/// # use article_webhook::{AuthToken, Receiver};
/// # let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
/// let error = Receiver::builder(token).body_limit(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "a body limit of 0 bytes refuses every delivery: the default is 8388608");
/// # Ok::<(), article_webhook::TokenError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // more settings bring more ways to get them wrong
pub enum SettingsError {
    /// The name cannot be a header's.
    #[error(
        "`{name}` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`"
    )]
    HeaderName {
        /// The name that was given.
        name: String,
    },
    /// The header has another meaning already.
    #[error(
        "the header `{name}` has another meaning already: give the event and the job id a header of their own each"
    )]
    HeaderTaken {
        /// The name that was given.
        name: String,
    },
    /// The body limit is 0.
    #[error("a body limit of 0 bytes refuses every delivery: the default is 8388608")]
    NoBody,
    /// The sink's deadline is 0.
    #[error("a sink deadline of 0 seconds refuses every delivery: the default is 5")]
    NoTime,
}

pub(crate) struct Settings {
    pub(crate) body_limit: usize,
    pub(crate) event_header: HeaderName,
    pub(crate) job_id_header: HeaderName,
    pub(crate) strict: bool,
    pub(crate) refuse_unknown_events: bool,
    pub(crate) sink_deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_limit: 8 << 20,
            event_header: HeaderName::from_static("x-service-event"),
            job_id_header: HeaderName::from_static("x-service-job-id"),
            strict: false,
            refuse_unknown_events: false,
            sink_deadline: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthToken;

    fn refused(change: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> String {
        let builder = Receiver::builder(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap());
        change(builder).build().unwrap_err().to_string()
    }

    #[test]
    fn each_setting_that_cannot_be_right_is_refused_in_its_own_words() {
        assert_eq!(
            refused(|builder| builder.event_header("a b")),
            "`a b` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`",
        );
        assert_eq!(
            refused(|builder| builder.job_id_header("")),
            "`` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`",
        );
        assert_eq!(
            refused(|builder| builder.body_limit(0)),
            "a body limit of 0 bytes refuses every delivery: the default is 8388608",
        );
        assert_eq!(
            refused(|builder| builder.sink_deadline(Duration::ZERO)),
            "a sink deadline of 0 seconds refuses every delivery: the default is 5",
        );
    }

    #[test]
    fn a_header_has_one_meaning() {
        let taken = |name: &str| {
            format!(
                "the header `{name}` has another meaning already: \
                 give the event and the job id a header of their own each"
            )
        };
        for name in ["authorization", "content-type", "content-length", "expect", "host"] {
            assert_eq!(refused(|builder| builder.event_header(name)), taken(name));
            assert_eq!(refused(|builder| builder.job_id_header(name)), taken(name));
        }
        let twice = refused(|builder| builder.event_header("X-Both").job_id_header("X-Both"));
        assert_eq!(twice, taken("x-both"));
    }
}
