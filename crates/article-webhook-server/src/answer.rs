use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

/// What the server answers on its own, after which it closes the connection. Constants, in the shape
/// of the service's errors: nothing of a request or of a failure is ever told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// RFC 9112, section 3.2: a request with two hosts may mean one to a proxy and the other to us.
    Host,
    /// The service panicked or failed.
    Internal,
}

impl Answer {
    fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::BAD_REQUEST,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn body(self) -> &'static str {
        match self {
            Self::Host => r#"{"error":"bad_request","message":"expected exactly one Host header"}"#,
            Self::Internal => r#"{"error":"internal","message":"the receiver failed"}"#,
        }
    }
}

impl<B: From<Bytes>> From<Answer> for Response<B> {
    fn from(answer: Answer) -> Self {
        let mut response = Self::new(Bytes::from_static(answer.body().as_bytes()).into());
        *response.status_mut() = answer.status();
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        closing(&mut response);
        response
    }
}

/// Says that the connection ends with this answer; hyper then ends it.
pub(crate) fn closing<B>(response: &mut Response<B>) {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
}
