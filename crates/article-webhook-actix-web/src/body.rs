use std::{error::Error, time::SystemTime};

use actix_web::{dev::Payload, error::PayloadError, rt::time::sleep, web::Bytes};
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
    (received, body.0)
}

/// The body of a request.
pub(crate) struct PayloadBody(pub(crate) Payload);

impl BodySource for PayloadBody {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        let chunk = self.0.next().await?;
        let is_limit = |cause: &(dyn Error + 'static)| {
            matches!(cause.downcast_ref(), Some(PayloadError::Overflow))
        };
        Some(chunk.map_err(|error| BodyError::from_source(&error, is_limit)))
    }
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use actix_web::{
        App,
        body::MessageBody,
        dev::{ServiceRequest, ServiceResponse},
        http::header::{CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING},
        middleware::{Next, from_fn},
        test::{call_service, init_service},
        web,
    };
    use article_webhook::{Delivery, Reply, fixture};

    use super::*;
    use crate::{ArticleComplete, fixture::DeliveryRequestExt, receive};

    async fn read_the_body(
        mut request: ServiceRequest,
        next: Next<impl MessageBody>,
    ) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
        assert!(!request.extract::<Bytes>().await?.is_empty());
        next.call(request).await
    }

    #[actix_web::test]
    async fn a_body_that_a_middleware_has_read_is_500_and_400_without_a_declared_length() {
        let store = receive(fixture::receiver(), async |_: Delivery| Reply::Stored);
        let app = App::new()
            .app_data(fixture::receiver())
            .service(web::resource("/sink").to(store))
            .service(web::resource("/extractor").to(async |_: ArticleComplete| "handled"))
            .wrap(from_fn(read_the_body));
        let app = init_service(app).await;
        for path in ["/sink", "/extractor"] {
            let complete = || fixture::complete().request(path).to_request();
            let mut in_chunks = complete();
            in_chunks.headers_mut().remove(CONTENT_LENGTH);
            in_chunks.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
            for (request, status) in [(complete(), 500), (in_chunks, 400)] {
                let response = call_service(&app, request).await;
                assert_eq!(response.status(), status, "{path}");
            }
        }
    }
}
