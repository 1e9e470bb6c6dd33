use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    body::{BodySize, MessageBody},
    dev::Payload,
    http::StatusCode,
    web::Bytes,
};
use article_webhook::Answer;

pub(crate) fn status(answer: Answer) -> StatusCode {
    // actix-web uses http 0.2, which has its own `StatusCode`.
    StatusCode::from_u16(answer.status().as_u16()).expect("an answer is made of constants")
}

pub(crate) fn response(answer: Answer, unread: Payload) -> HttpResponse {
    let mut response = HttpResponseBuilder::new(status(answer));
    for header in answer.headers() {
        if header == ("connection", "close") {
            // actix-web writes this header itself, and drops one that is set by hand.
            response.force_close();
        } else {
            response.insert_header(header);
        }
    }
    let text = Bytes::from_static(answer.body().as_bytes());
    response.body(Unread { text, _unread: unread })
}

/// The body of a response that owns the unread rest of the request's body.
///
/// actix-web does not close a connection whose chunked payload was dropped before its end, even if the
/// response says so. It closes the connection if the payload lives as long as the response.
pub(crate) struct Unread {
    text: Bytes,
    _unread: Payload,
}

impl MessageBody for Unread {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.text.len() as u64)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let text = mem::take(&mut self.text);
        Poll::Ready((!text.is_empty()).then_some(Ok(text)))
    }
}
