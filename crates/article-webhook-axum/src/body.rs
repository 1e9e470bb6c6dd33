use std::{error::Error, time::SystemTime};

use article_webhook::{
    Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake},
};
use axum_core::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError};
use tokio::time::sleep;

/// Receives the body of a request whose head was checked.
pub(crate) async fn receive_body<T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    body: Body,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let mut body = Frames(body);
    adapter::receive_body(receiver, opened, &mut body, sleep, SystemTime::now(), read).await
}

struct Frames(Body);

impl BodySource for Frames {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        loop {
            match self.0.frame().await?.map(|frame| frame.into_data()) {
                Ok(Ok(chunk)) => return Some(Ok(chunk)),
                Ok(Err(_trailers)) => {}
                Err(error) => {
                    let is_limit = |cause: &(dyn Error + 'static)| cause.is::<LengthLimitError>();
                    return Some(Err(BodyError::from_source(&error, is_limit)));
                }
            }
        }
    }
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use article_webhook::{Delivery, Reply, fixture};
    use axum::{
        Router,
        body::to_bytes,
        extract::Request,
        middleware::{Next, from_fn},
        response::Response,
        routing::post,
    };
    use tower::ServiceExt;

    use super::*;
    use crate::{ArticleComplete, fixture::DeliveryRequestExt, receive};

    async fn read_the_body(request: Request, next: Next) -> Response {
        let (head, body) = request.into_parts();
        assert!(to_bytes(body, usize::MAX).await.is_ok_and(|body| !body.is_empty()));
        next.run(Request::from_parts(head, Body::empty())).await
    }

    #[tokio::test]
    async fn a_body_that_a_middleware_has_read_is_500_and_400_without_a_declared_length() {
        let store = receive(fixture::receiver(), async |_: Delivery| Reply::Stored);
        let app: Router = Router::new()
            .route("/sink", post(store))
            .route("/extractor", post(async |_: ArticleComplete| ()))
            .with_state(fixture::receiver())
            .layer(from_fn(read_the_body));
        let complete = fixture::complete();
        let in_chunks = complete
            .clone()
            .without_header("Content-Length")
            .header("Transfer-Encoding", "chunked");
        for path in ["/sink", "/extractor"] {
            for (post, status) in [(&complete, 500), (&in_chunks, 400)] {
                let response = app.clone().oneshot(post.request(path)).await.unwrap();
                assert_eq!(response.status(), status, "{path}");
            }
        }
    }
}
