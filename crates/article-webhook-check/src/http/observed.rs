use std::time::Duration;

/// The status of a receiver for another method than POST.
pub(crate) const OTHER_METHOD: u16 = 405;

/// The status of a receiver for a body over its limit.
pub(crate) const OVER_THE_LIMIT: u16 = 413;

/// What came back after a request.
#[derive(Debug, Clone)]
pub(crate) enum Observed {
    Response(Response),
    /// No HTTP/1 response; the text says what is wrong with it.
    InvalidResponse(&'static str),
    /// A TLS server's answer to a request that is not TLS.
    TlsAlert,
    /// The connection ended before a response did.
    Closed,
    /// No complete response in time.
    TimedOut,
    Unreachable,
    /// The time limit of the check had passed.
    NotTried,
}

#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The bytes of the status line and the headers.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// The connection ends with this response.
    pub(crate) closes: bool,
    /// Time from the last byte of the request to the end of the response.
    pub(crate) after: Duration,
}

impl Observed {
    pub(crate) fn response(&self) -> Option<&Response> {
        match self {
            Self::Response(response) => Some(response),
            _ => None,
        }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.response().map(|response| response.status)
    }

    pub(crate) fn is_success(&self) -> bool {
        matches!(self.status(), Some(200..=299))
    }

    /// A short description. It quotes nothing that the receiver wrote.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Response(Response { status, after, .. }) => {
                format!("{status} in {} ms", after.as_millis())
            }
            Self::InvalidResponse(what) => format!("no HTTP response: {what}"),
            Self::TlsAlert => "a TLS alert instead of HTTP".to_owned(),
            Self::Closed => "connection closed without a response".to_owned(),
            Self::TimedOut => "no response in time".to_owned(),
            Self::Unreachable => "no connection".to_owned(),
            Self::NotTried => "not tried: the time limit was reached".to_owned(),
        }
    }
}
