use std::fmt;

/// The error codes of the service (service document, section 7).
///
/// ```
/// use article_webhook_client::ErrorCode;
///
/// assert_eq!(ErrorCode::from("job_not_found"), ErrorCode::JobNotFound);
/// assert_eq!(ErrorCode::from("quota_frozen").as_str(), "quota_frozen"); // a code that this version does not know
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive] // the service may define more
pub enum ErrorCode {
    /// 401: the API key is missing or wrong.
    InvalidApiKey,
    /// 402: no credits remain, see [`Error::upgrade_url`](crate::Error::upgrade_url).
    CreditsExhausted,
    /// 400: the brand or product is not set up yet, see [`configure_brand`](crate::Client::configure_brand).
    NotConfigured,
    /// 429: too many requests, see [`Error::retry_after`](crate::Error::retry_after).
    RateLimitExceeded,
    /// 404: there is no such job.
    JobNotFound,
    /// 500: the pipeline failed at a [`step`](crate::Error::step), and the credits were refunded.
    GenerationFailed,
    /// 400: analytics were requested, but are not connected.
    Ga4NotConnected,
    /// 400: the request's body is malformed.
    InvalidRequest,
    /// 403: the feature needs a paid plan.
    PlanRequired,
    /// A code that the document does not name.
    Other(Box<str>),
}

impl ErrorCode {
    /// The code as the service writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::InvalidApiKey => "invalid_api_key",
            Self::CreditsExhausted => "credits_exhausted",
            Self::NotConfigured => "not_configured",
            Self::RateLimitExceeded => "rate_limit_exceeded",
            Self::JobNotFound => "job_not_found",
            Self::GenerationFailed => "generation_failed",
            Self::Ga4NotConnected => "ga4_not_connected",
            Self::InvalidRequest => "invalid_request",
            Self::PlanRequired => "plan_required",
            Self::Other(code) => code,
        }
    }
}

impl From<&str> for ErrorCode {
    fn from(code: &str) -> Self {
        let known = [
            Self::InvalidApiKey,
            Self::CreditsExhausted,
            Self::NotConfigured,
            Self::RateLimitExceeded,
            Self::JobNotFound,
            Self::GenerationFailed,
            Self::Ga4NotConnected,
            Self::InvalidRequest,
            Self::PlanRequired,
        ];
        let known = known.into_iter().find(|known| known.as_str() == code);
        known.unwrap_or_else(|| Self::Other(code.into()))
    }
}

/// Codes from outside are escaped, so that they cannot control a terminal.
impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().escape_debug().fmt(f)
    }
}
