//! Requests as a framework hands them over.

use article_webhook::fixture::DeliveryRequest;
use bytes::Bytes;
use http::HeaderMap;

use super::sample::{Text, posts};

/// The head of a request, as far as a receiver looks at it, and its body.
pub(crate) struct Request {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Distinct requests with articles of about `bytes` bytes of HTML.
pub(crate) fn requests(bytes: usize, text: Text) -> Vec<Request> {
    posts(bytes, text).into_iter().map(Request::from).collect()
}

impl From<DeliveryRequest> for Request {
    fn from(post: DeliveryRequest) -> Self {
        let (head, body) = post.into_request("/").into_parts();
        let headers = head.headers;
        Self { headers, body }
    }
}
