use http::StatusCode;

use super::{Rejection, Reply};

impl Rejection {
    /// The status of the answer, which decides whether the service retries.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        Code::from(self).status()
    }

    /// The stable code in the answer, such as `unauthorized`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        Code::from(self).as_str()
    }

    /// Whether the sender was authenticated before the refusal.
    #[must_use]
    pub fn is_authentic(&self) -> bool {
        !matches!(Code::from(self), Code::MethodNotAllowed | Code::Unauthorized)
    }
}

/// The code in an answer. Coarser than the cause: every failed authentication has the same 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    Stored,
    Duplicate,
    Ignored,
    BadRequest,
    Incomplete,
    MalformedJson,
    InvalidJobId,
    Unauthorized,
    MethodNotAllowed,
    Timeout,
    PayloadTooLarge,
    UnsupportedMediaType,
    JobIdMismatch,
    Unprocessable,
    Internal,
    Misconfigured { body: &'static str },
    RetryLater,
    Unavailable,
}

impl From<Reply> for Code {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Stored => Self::Stored,
            Reply::Duplicate => Self::Duplicate,
            Reply::Ignored => Self::Ignored,
            Reply::Unauthorized => Self::Unauthorized,
            Reply::Retry => Self::RetryLater,
            Reply::Unavailable => Self::Unavailable,
        }
    }
}

impl From<&Rejection> for Code {
    fn from(rejection: &Rejection) -> Self {
        match rejection {
            Rejection::MethodNotPost => Self::MethodNotAllowed,
            Rejection::AuthorizationMissing
            | Rejection::AuthorizationRepeated
            | Rejection::AuthorizationWrong
            | Rejection::CapabilityWrong
            | Rejection::CapabilityExpired => Self::Unauthorized,
            Rejection::ContentTypeMissing
            | Rejection::ContentTypeRepeated
            | Rejection::ContentTypeWrong
            | Rejection::ContentTypeCharset
            | Rejection::ContentEncoding => Self::UnsupportedMediaType,
            Rejection::HeaderRepeated(_)
            | Rejection::HeaderMissing(_)
            | Rejection::EventInvalid
            | Rejection::Framing => Self::BadRequest,
            Rejection::TooLarge { .. } | Rejection::LimitedByLayer => Self::PayloadTooLarge,
            Rejection::AlreadyRead => Self::Internal,
            Rejection::Incomplete => Self::Incomplete,
            Rejection::Timeout => Self::Timeout,
            Rejection::Overloaded => Self::Unavailable,
            Rejection::Empty | Rejection::MalformedJson { .. } => Self::MalformedJson,
            Rejection::JobIdMissing
            | Rejection::HeaderJobIdInvalid(_)
            | Rejection::BodyJobIdInvalid(_) => Self::InvalidJobId,
            Rejection::JobIdMismatch => Self::JobIdMismatch,
            Rejection::EventIgnored => Self::Ignored,
            Rejection::EventUnknown | Rejection::Undecodable(_) => Self::Unprocessable,
        }
    }
}

impl Code {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Stored | Self::Duplicate | Self::Ignored => StatusCode::OK,
            Self::BadRequest | Self::Incomplete | Self::MalformedJson | Self::InvalidJobId => {
                StatusCode::BAD_REQUEST
            }
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::JobIdMismatch | Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Internal | Self::Misconfigured { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            Self::RetryLater | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The code is the first value of the body, so that the two cannot disagree.
    fn as_str(self) -> &'static str {
        self.body().split('"').nth(3).unwrap_or_default()
    }

    pub(super) fn body(self) -> &'static str {
        match self {
            Self::Stored => r#"{"status":"stored"}"#,
            Self::Duplicate => r#"{"status":"duplicate"}"#,
            Self::Ignored => r#"{"status":"ignored"}"#,
            Self::BadRequest => {
                r#"{"error":"bad_request","message":"a header of the service is missing, repeated or invalid"}"#
            }
            Self::Incomplete => r#"{"error":"incomplete","message":"the body ended early"}"#,
            Self::MalformedJson => {
                r#"{"error":"malformed_json","message":"the body is not one well-formed JSON object"}"#
            }
            Self::InvalidJobId => {
                r#"{"error":"invalid_job_id","message":"the job id is missing or invalid"}"#
            }
            Self::Unauthorized => {
                r#"{"error":"unauthorized","message":"the credentials are missing or wrong"}"#
            }
            Self::MethodNotAllowed => {
                r#"{"error":"method_not_allowed","message":"deliveries are sent by POST"}"#
            }
            Self::Timeout => r#"{"error":"timeout","message":"the body did not arrive in time"}"#,
            Self::PayloadTooLarge => {
                r#"{"error":"payload_too_large","message":"the body is over the receiver's limit"}"#
            }
            Self::UnsupportedMediaType => {
                r#"{"error":"unsupported_media_type","message":"expected application/json in UTF-8, not encoded"}"#
            }
            Self::JobIdMismatch => {
                r#"{"error":"job_id_mismatch","message":"the job ids of header and body differ"}"#
            }
            Self::Unprocessable => {
                r#"{"error":"unprocessable","message":"the delivery is authentic but not understood"}"#
            }
            Self::Internal => r#"{"error":"internal","message":"the receiver failed"}"#,
            Self::Misconfigured { body } => body,
            Self::RetryLater => {
                r#"{"error":"retry_later","message":"the receiver asks for another attempt"}"#
            }
            Self::Unavailable => {
                r#"{"error":"unavailable","message":"the receiver cannot store deliveries now"}"#
            }
        }
    }
}
