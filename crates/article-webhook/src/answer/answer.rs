use http::StatusCode;

use super::{Rejection, Reply, code::Code};

/// What goes back to the sender: status, headers and a constant body. Adapters send nothing else.
///
/// An answer is made from a [`Rejection`] or from a [`Reply`]. All its parts are constants, so it
/// cannot echo a request. Bodies have the format of the service's own errors (service document, section
/// 7).
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
    /// 500: the receiver failed.
    pub(crate) fn internal_error() -> Self {
        Self::new(Code::Internal)
    }

    /// 500 with a body that names the application's mistake.
    pub(crate) fn misconfigured(body: &'static str) -> Self {
        Self::new(Code::Misconfigured { body })
    }

    const fn new(code: Code) -> Self {
        Self { code, closes: false }
    }

    /// The same answer, after which the connection is closed.
    pub(crate) const fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// The status. The service treats any 2xx as success and retries after any other status (service
    /// document, section 6.2).
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// The headers. Their names are in lower case.
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
    #[must_use]
    pub fn body(&self) -> &'static str {
        self.code.body()
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::new(reply.into())
    }
}

impl From<&Rejection> for Answer {
    fn from(rejection: &Rejection) -> Self {
        Self::new(rejection.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer::ServiceHeader, article::InvalidJobId};

    #[test]
    fn each_cause_has_its_status_and_its_code() {
        let undecodable = crate::ArticleResult::from_json(b"{}").unwrap_err();
        let Err(malformed) = crate::article::Outline::parse(b"{") else { panic!() };
        for (cause, status, code) in [
            (Rejection::MethodNotPost, 405, "method_not_allowed"),
            (Rejection::AuthorizationMissing, 401, "unauthorized"),
            (Rejection::AuthorizationRepeated, 401, "unauthorized"),
            (Rejection::AuthorizationWrong, 401, "unauthorized"),
            (Rejection::CapabilityWrong, 401, "unauthorized"),
            (Rejection::CapabilityExpired, 401, "unauthorized"),
            (Rejection::ContentTypeMissing, 415, "unsupported_media_type"),
            (Rejection::ContentTypeRepeated, 415, "unsupported_media_type"),
            (Rejection::ContentTypeWrong, 415, "unsupported_media_type"),
            (Rejection::ContentTypeCharset, 415, "unsupported_media_type"),
            (Rejection::ContentEncoding, 415, "unsupported_media_type"),
            (Rejection::HeaderRepeated(ServiceHeader::JobId), 400, "bad_request"),
            (Rejection::HeaderMissing(ServiceHeader::Event), 400, "bad_request"),
            (Rejection::EventInvalid, 400, "bad_request"),
            (Rejection::Framing, 400, "bad_request"),
            (Rejection::TooLarge { limit: 1 }, 413, "payload_too_large"),
            (Rejection::LimitedByLayer, 413, "payload_too_large"),
            (Rejection::AlreadyRead, 500, "internal"),
            (Rejection::Incomplete, 400, "incomplete"),
            (Rejection::Timeout, 408, "timeout"),
            (Rejection::Overloaded, 503, "unavailable"),
            (Rejection::Empty, 400, "malformed_json"),
            (Rejection::MalformedJson(malformed), 400, "malformed_json"),
            (Rejection::JobIdMissing, 400, "invalid_job_id"),
            (Rejection::HeaderJobIdInvalid(InvalidJobId::TooLong), 400, "invalid_job_id"),
            (Rejection::BodyJobIdInvalid(InvalidJobId::Dots), 400, "invalid_job_id"),
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
                Reply::Unauthorized,
                401,
                r#"{"error":"unauthorized","message":"the credentials are missing or wrong"}"#,
            ),
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
