use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

/// The responses that the server makes itself. It closes the connection after them. They are constants in the
/// format of the core's refusals, and contain no part of the request or of the failure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ErrorResponse {
    /// RFC 9112, section 3.2: with two hosts, a proxy and this server could disagree about which one is meant.
    InvalidHost,
    /// The service panicked or failed.
    Internal,
    /// The health check of a server that is about to stop.
    Stopping,
}

impl ErrorResponse {
    fn status(self) -> StatusCode {
        match self {
            Self::InvalidHost => StatusCode::BAD_REQUEST,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn body(self) -> &'static str {
        match self {
            Self::InvalidHost => {
                r#"{"error":"bad_request","message":"expected exactly one Host header"}"#
            }
            Self::Internal => r#"{"error":"internal","message":"the receiver failed"}"#,
            Self::Stopping => {
                r#"{"error":"unavailable","message":"the receiver is about to stop"}"#
            }
        }
    }
}

impl<B: From<Bytes>> From<ErrorResponse> for Response<B> {
    fn from(error: ErrorResponse) -> Self {
        let mut response = Self::new(Bytes::from_static(error.body().as_bytes()).into());
        *response.status_mut() = error.status();
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        close_after(&mut response);
        response
    }
}

/// Makes hyper close the connection after this response, and announce that to the peer.
pub(crate) fn close_after<B>(response: &mut Response<B>) {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
}
