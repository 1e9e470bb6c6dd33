use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use super::json::json_response;
use crate::Step;

/// An error of the API (service document, section 7), and two for calls that are not documented.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ApiError {
    InvalidApiKey,
    CreditsExhausted { remaining: u64, upgrade_url: String },
    NotConfigured,
    RateLimitExceeded { wait: Duration },
    JobNotFound,
    GenerationFailed { step: Step, refunded: u64 },
    Ga4NotConnected,
    InvalidRequest { field: &'static str, expected: &'static str },
    PlanRequired { feature: String },
    NoSuchCall,
    WrongMethod { allowed: &'static str },
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            Self::InvalidApiKey => StatusCode::UNAUTHORIZED,
            Self::CreditsExhausted { .. } => StatusCode::PAYMENT_REQUIRED,
            Self::PlanRequired { .. } => StatusCode::FORBIDDEN,
            Self::JobNotFound | Self::NoSuchCall => StatusCode::NOT_FOUND,
            Self::WrongMethod { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::RateLimitExceeded { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::GenerationFailed { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            Self::NotConfigured | Self::Ga4NotConnected | Self::InvalidRequest { .. } => {
                StatusCode::BAD_REQUEST
            }
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::InvalidApiKey => "invalid_api_key",
            Self::CreditsExhausted { .. } => "credits_exhausted",
            Self::NotConfigured => "not_configured",
            Self::RateLimitExceeded { .. } => "rate_limit_exceeded",
            Self::JobNotFound => "job_not_found",
            Self::GenerationFailed { .. } => "generation_failed",
            Self::Ga4NotConnected => "ga4_not_connected",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::PlanRequired { .. } => "plan_required",
            Self::NoSuchCall => "not_found",
            Self::WrongMethod { .. } => "method_not_allowed",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::InvalidApiKey => "The API key is bad or missing.".into(),
            Self::CreditsExhausted { .. } => {
                "No credits remain. Subscribe to a plan or wait for the billing period to reset."
                    .into()
            }
            Self::NotConfigured => {
                "The brand is not set up yet. Call POST /v1/config/brand first.".into()
            }
            Self::RateLimitExceeded { .. } => "Too many requests.".into(),
            Self::JobNotFound => "There is no job of that job_id.".into(),
            Self::GenerationFailed { step, .. } => format!(
                "Generation failed at the step {step}. The credits were refunded, and the request can be retried."
            ),
            Self::Ga4NotConnected => "Analytics were requested, and no GA4 is connected.".into(),
            Self::InvalidRequest { field, expected } => {
                format!("Malformed request: {field} must be {expected}.")
            }
            Self::PlanRequired { .. } => "This feature requires a paid plan.".into(),
            Self::NoSuchCall => "There is no such call.".into(),
            Self::WrongMethod { .. } => "This call has another method.".into(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::GenerationFailed { step, refunded } => {
                Some(json!({ "step": step, "credits_refunded": refunded }))
            }
            Self::RateLimitExceeded { wait } => {
                Some(json!({ "retry_after_seconds": whole_seconds(*wait) }))
            }
            Self::InvalidRequest { field, expected } => {
                Some(json!({ "field": field, "expected": expected }))
            }
            Self::PlanRequired { feature } => Some(json!({ "feature": feature })),
            _ => None,
        }
    }
}

impl From<ApiError> for Response<Bytes> {
    fn from(error: ApiError) -> Self {
        let mut body = Map::new();
        body.insert("error".into(), error.code().into());
        body.insert("message".into(), error.message().into());
        if let Some(details) = error.details() {
            body.insert("details".into(), details);
        }
        if let ApiError::CreditsExhausted { remaining, upgrade_url } = &error {
            body.insert("credits_remaining".into(), (*remaining).into());
            body.insert("upgrade_url".into(), upgrade_url.as_str().into());
        }
        let mut response = json_response(error.status(), &Value::Object(body));
        let headers = response.headers_mut();
        match error {
            ApiError::RateLimitExceeded { wait } => {
                headers.insert(header::RETRY_AFTER, whole_seconds(wait).into());
            }
            ApiError::WrongMethod { allowed } => {
                headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
            }
            ApiError::InvalidApiKey => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

/// Rounded up: a client that retries too early would be refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}
