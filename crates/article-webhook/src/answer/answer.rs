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

    /// Servers refuse such framing themselves, and only a sink can know that a capability is for another job.
    #[test]
    fn what_no_request_to_a_server_brings_about_has_its_answer() {
        let wrong_token = Answer::from(&Rejection::AuthorizationWrong);
        assert_eq!(Answer::from(Reply::Unauthorized), wrong_token);
        let framing = Rejection::Framing;
        assert_eq!((framing.status().as_u16(), framing.code()), (400, "bad_request"));
    }
}
