use std::fmt;

use http::StatusCode;

use crate::{Rejection, Reply, log};

/// What goes back to the sender: status, headers and a constant body. The only thing an adapter sends.
///
/// It is made from a [`Rejection`] or from a [`Reply`] and has no other parts than these two allow,
/// so nothing of a request can be echoed. Bodies have the shape of the service's own errors
/// (document, section 7).
///
/// ```
/// use article_webhook::{Answer, Rejection, Reply};
///
/// let stored = Answer::from(Reply::Stored);
/// assert_eq!((stored.status().as_u16(), stored.body()), (200, r#"{"status":"stored"}"#));
///
/// let refused = Answer::from(&Rejection::AuthorizationWrong);
/// assert_eq!(refused.status(), 401);
/// assert!(refused.headers().any(|header| header == ("www-authenticate", "Bearer")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    code: Code,
    closes: bool,
}

impl Answer {
    /// 500: the application mounted a handler and forgot the receiver. The body names the fix, and
    /// so does the log with the feature `tracing`.
    ///
    /// ```
    /// use article_webhook::Answer;
    ///
    /// assert_eq!(Answer::no_receiver().status(), 500);
    /// assert!(Answer::no_receiver().body().contains(".app_data(receiver)"));
    /// ```
    #[must_use]
    pub fn no_receiver() -> Self {
        log::no_receiver();
        Self::new(Code::NoReceiver)
    }

    /// 503 for a handler that failed: the service is told to come again. The error is logged with
    /// the feature `tracing`, and never sent.
    ///
    /// ```
    /// use article_webhook::Answer;
    ///
    /// let answer = Answer::retry(&"the disk is full");
    /// assert_eq!(answer.status(), 503);
    /// assert!(!answer.body().contains("disk"));
    /// ```
    #[must_use]
    pub fn retry(error: &dyn fmt::Display) -> Self {
        log::retry(error);
        Reply::Retry.into()
    }

    pub(crate) const fn new(code: Code) -> Self {
        let closes = false;
        Self { code, closes }
    }

    /// The same answer, after which the connection is closed.
    ///
    /// ```
    /// use article_webhook::{Answer, Reply};
    ///
    /// let answer = Answer::from(Reply::Retry).closing();
    /// assert!(answer.headers().any(|header| header == ("connection", "close")));
    /// ```
    #[must_use]
    pub const fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// The status. The service takes any 2xx for success and retries on everything else
    /// (document, section 6.2).
    ///
    /// ```
    /// use article_webhook::{Answer, Reply};
    ///
    /// assert_eq!(Answer::from(Reply::Duplicate).status(), 200);
    /// assert_eq!(Answer::from(Reply::Unavailable).status(), 503);
    /// ```
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// The headers, names in lower case.
    ///
    /// ```
    /// use article_webhook::{Answer, Reply};
    ///
    /// let answer = Answer::from(Reply::Retry);
    /// let headers: Vec<_> = answer.headers().collect();
    /// assert_eq!(headers, [("content-type", "application/json"), ("retry-after", "10")]);
    /// ```
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let specific = match self.code {
            Code::MethodNotAllowed => Some(("allow", "POST")),
            Code::Unauthorized => Some(("www-authenticate", "Bearer")),
            Code::RetryLater | Code::Unavailable => Some(("retry-after", "10")),
            _ => None,
        };
        let closes = self.closes.then_some(("connection", "close"));
        [("content-type", "application/json")].into_iter().chain(specific).chain(closes)
    }

    /// The body: JSON, constant for each code.
    ///
    /// ```
    /// use article_webhook::{Answer, Rejection};
    ///
    /// assert_eq!(
    ///     Answer::from(&Rejection::Incomplete).body(),
    ///     r#"{"error":"incomplete","message":"the body ended early"}"#,
    /// );
    /// ```
    #[must_use]
    pub fn body(&self) -> &'static str {
        self.code.body()
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::new(match reply {
            Reply::Stored => Code::Stored,
            Reply::Duplicate => Code::Duplicate,
            Reply::Ignored => Code::Ignored,
            Reply::Retry => Code::RetryLater,
            Reply::Unavailable => Code::Unavailable,
        })
    }
}

impl From<&Rejection> for Answer {
    fn from(rejection: &Rejection) -> Self {
        Self::new(rejection.into())
    }
}

/// What the sender is told. Coarser than the cause: a stranger learns nothing but 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
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
    NoReceiver,
    RetryLater,
    Unavailable,
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
            Rejection::ContentType | Rejection::ContentEncoding => Self::UnsupportedMediaType,
            Rejection::HeaderRepeated(_)
            | Rejection::HeaderMissing(_)
            | Rejection::EventInvalid
            | Rejection::Framing => Self::BadRequest,
            Rejection::TooLarge { .. } => Self::PayloadTooLarge,
            Rejection::Incomplete => Self::Incomplete,
            Rejection::Timeout => Self::Timeout,
            Rejection::Overloaded => Self::Unavailable,
            Rejection::MalformedJson { .. } => Self::MalformedJson,
            Rejection::InvalidJobId => Self::InvalidJobId,
            Rejection::JobIdMismatch => Self::JobIdMismatch,
            Rejection::EventIgnored => Self::Ignored,
            Rejection::EventUnknown | Rejection::Undecodable(_) => Self::Unprocessable,
        }
    }
}

impl Code {
    pub(crate) fn status(self) -> StatusCode {
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
            Self::Internal | Self::NoReceiver => StatusCode::INTERNAL_SERVER_ERROR,
            Self::RetryLater | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The code is the first value of the body, so that the two cannot disagree.
    pub(crate) fn as_str(self) -> &'static str {
        self.body().split('"').nth(3).unwrap_or_default()
    }

    fn body(self) -> &'static str {
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
            Self::NoReceiver => {
                r#"{"error":"internal","message":"the application forgot its Receiver: add .app_data(receiver) to the App"}"#
            }
            Self::RetryLater => {
                r#"{"error":"retry_later","message":"the receiver asks for another attempt"}"#
            }
            Self::Unavailable => {
                r#"{"error":"unavailable","message":"the receiver cannot store deliveries now"}"#
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServiceHeader;

    #[test]
    fn each_cause_has_its_status_and_its_code() {
        let undecodable = crate::ArticleResult::from_json(b"{}").unwrap_err();
        for (cause, status, code) in [
            (Rejection::MethodNotPost, 405, "method_not_allowed"),
            (Rejection::AuthorizationMissing, 401, "unauthorized"),
            (Rejection::AuthorizationRepeated, 401, "unauthorized"),
            (Rejection::AuthorizationWrong, 401, "unauthorized"),
            (Rejection::CapabilityWrong, 401, "unauthorized"),
            (Rejection::CapabilityExpired, 401, "unauthorized"),
            (Rejection::ContentType, 415, "unsupported_media_type"),
            (Rejection::ContentEncoding, 415, "unsupported_media_type"),
            (Rejection::HeaderRepeated(ServiceHeader::JobId), 400, "bad_request"),
            (Rejection::HeaderMissing(ServiceHeader::Event), 400, "bad_request"),
            (Rejection::EventInvalid, 400, "bad_request"),
            (Rejection::Framing, 400, "bad_request"),
            (Rejection::TooLarge { limit: 1 }, 413, "payload_too_large"),
            (Rejection::Incomplete, 400, "incomplete"),
            (Rejection::Timeout, 408, "timeout"),
            (Rejection::Overloaded, 503, "unavailable"),
            (Rejection::MalformedJson { line: 1, column: 1 }, 400, "malformed_json"),
            (Rejection::InvalidJobId, 400, "invalid_job_id"),
            (Rejection::JobIdMismatch, 422, "job_id_mismatch"),
            (Rejection::EventIgnored, 200, "ignored"),
            (Rejection::EventUnknown, 422, "unprocessable"),
            (Rejection::Undecodable(undecodable), 422, "unprocessable"),
        ] {
            assert_eq!((cause.status().as_u16(), cause.code()), (status, code), "{cause:?}");
            let stranger = matches!(status, 401 | 405);
            assert_eq!(cause.is_authentic(), !stranger, "{cause:?}");
            let answer = Answer::from(&cause);
            assert_eq!(answer.status(), status);
            let named = if status == 200 { "status" } else { "error" };
            let body: serde_json::Value = serde_json::from_str(answer.body()).unwrap();
            assert_eq!(body[named], code);
        }
    }

    #[test]
    fn each_reply_has_its_answer() {
        for (reply, status, body) in [
            (Reply::Stored, 200, r#"{"status":"stored"}"#),
            (Reply::Duplicate, 200, r#"{"status":"duplicate"}"#),
            (Reply::Ignored, 200, r#"{"status":"ignored"}"#),
            (
                Reply::Retry,
                503,
                r#"{"error":"retry_later","message":"the receiver asks for another attempt"}"#,
            ),
            (
                Reply::Unavailable,
                503,
                r#"{"error":"unavailable","message":"the receiver cannot store deliveries now"}"#,
            ),
        ] {
            let answer = Answer::from(reply);
            assert_eq!((answer.status().as_u16(), answer.body()), (status, body));
            let waits = answer.headers().any(|header| header == ("retry-after", "10"));
            assert_eq!(waits, status == 503);
        }
    }
}
