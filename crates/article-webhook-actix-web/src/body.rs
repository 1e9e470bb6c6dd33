use std::{error::Error, time::SystemTime};

use actix_web::{
    dev::Payload,
    error::PayloadError,
    http::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING},
    rt::time::sleep,
    web::Bytes,
};
use article_webhook::{
    Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake},
};
use futures_util::StreamExt;

/// Receives the body of a request whose head was checked. Also returns the payload: the response to a
/// refusal must own its unread rest, see [`response`](crate::response::response).
pub(crate) async fn receive_body<T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    mut body: PayloadBody,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> (Result<T, Refused>, Payload) {
    let received =
        adapter::receive_body(receiver, opened, &mut body, sleep, SystemTime::now(), read).await;
    (received, body.payload)
}

/// The body of a request.
pub(crate) struct PayloadBody {
    payload: Payload,
    /// The head announces a body, and another extractor or a middleware has taken it.
    is_taken: bool,
}

impl PayloadBody {
    pub(crate) fn new(headers: &HeaderMap, payload: Payload) -> Self {
        let is_taken = matches!(payload, Payload::None) && announces_body(headers);
        Self { payload, is_taken }
    }
}

fn announces_body(headers: &HeaderMap) -> bool {
    let is_positive = |digits: &[u8]| digits.iter().any(|&digit| digit != b'0');
    headers.contains_key(TRANSFER_ENCODING)
        || headers.get(CONTENT_LENGTH).is_some_and(|length| is_positive(length.as_bytes()))
}

impl BodySource for PayloadBody {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        if self.is_taken {
            return Some(Err(BodyError::AlreadyRead));
        }
        let chunk = self.payload.next().await?;
        let is_limit = |cause: &(dyn Error + 'static)| {
            matches!(cause.downcast_ref(), Some(PayloadError::Overflow))
        };
        Some(chunk.map_err(|error| BodyError::from_source(&error, is_limit)))
    }
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use actix_web::test::TestRequest;
    use article_webhook::{Rejection, fixture};

    use super::*;
    use crate::headers::ActixHeaders;

    #[actix_web::test]
    async fn an_announced_body_that_is_gone_was_read_by_another() {
        for (framing, rejection) in [
            (("Content-Length", "5"), Rejection::AlreadyRead),
            (("Transfer-Encoding", "chunked"), Rejection::AlreadyRead),
            (("Content-Length", "0"), Rejection::Empty),
            (("X-Other", "5"), Rejection::Empty),
        ] {
            let post = fixture::complete().without_header("Content-Length");
            let request =
                post.headers().iter().fold(TestRequest::post(), |request, (name, value)| {
                    request.append_header((name.as_str(), value.as_slice()))
                });
            let request = request.append_header(framing).to_http_request();
            let (receiver, headers) = (fixture::receiver(), request.headers());
            let (opened, body) =
                (receiver.open(&ActixHeaders(headers)), PayloadBody::new(headers, Payload::None));
            let (received, _) = receive_body(&receiver, opened, body, Intake::read).await;
            let refused = received.expect_err("there is no body");
            assert_eq!(*refused.rejection(), rejection, "{framing:?}");
            assert!(refused.job_id().is_some(), "the sink is told");
        }
    }
}
