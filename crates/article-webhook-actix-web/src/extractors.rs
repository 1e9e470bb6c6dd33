use std::pin::Pin;

use actix_web::{FromRequest, HttpRequest, dev::Payload, web::Data};
use article_webhook::{ArticleResult, Delivery, Receiver, Refused, adapter::Intake};

use crate::{
    body::{PayloadBody, receive_body},
    headers::ActixHeaders,
    refused_response::RefusedResponse,
    run_to_completion::admit,
};

type ExtractorFuture<T> = Pin<Box<dyn Future<Output = Result<T, RefusedResponse>>>>;

/// Extracts the article of a delivery, and the delivery. The handler runs only for an authentic, complete article.
///
/// `ArticleComplete(result, ..)` takes the article alone. The [`Delivery`] has the target, the event, the intent, the
/// exact bytes and the drift.
///
/// The [`Receiver`] comes from `app_data`, plain or in `web::Data`. Without it every request is answered
/// with a 500 that names the fix. After `Ok` the service is done; after [`Retry`](crate::Retry) it
/// retries. Work that must survive a crash belongs in a [`Sink`](crate::Sink), mounted with
/// [`receive`](crate::receive()).
///
/// Do not extract `Option<ArticleComplete>`: it turns a forged delivery into `None`, and drops the
/// [`RefusedResponse`], without which actix-web does not close the connection of a sender that never
/// ends the body.
///
/// ```
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{ArticleComplete, AuthToken, Receiver, Retry};
///
/// async fn on_article(ArticleComplete(result, delivery): ArticleComplete) -> Result<(), Retry> {
///     println!("{:?} for {}: {:?}", result.job_id, delivery.target(), result.article.title);
///     Ok(())
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app = App::new()
///     .app_data(receiver)
///     .service(web::resource("/webhooks/articles").route(web::post().to(on_article)));
/// # use article_webhook_actix_web::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |fixture: DeliveryRequest| {
/// #     let request = fixture.request("/webhooks/articles");
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
/// assert_eq!(send(fixture::complete()).await.status(), 204);
/// assert_eq!(send(fixture::complete().defect(Defect::WrongToken)).await.status(), 401);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "handlers take it apart in their arguments")]
pub struct ArticleComplete(pub ArticleResult, pub Delivery);

impl FromRequest for ArticleComplete {
    type Error = RefusedResponse;
    type Future = ExtractorFuture<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let read =
            |intake: Intake| intake.article().map(|(result, delivery)| Self(result, delivery));
        extract(request, payload, read, |Self(_, delivery)| delivery)
    }
}

/// Extracts a [`Delivery`]: authentic and well-formed, with its exact bytes, of any event.
///
/// For handlers that need the exact bytes, or events that this version does not know.
///
/// ```
/// use article_webhook_actix_web::{RawDelivery, Retry};
///
/// async fn on_delivery(RawDelivery(delivery): RawDelivery) -> Result<(), Retry> {
///     println!("{} for {}: {} bytes", delivery.event(), delivery.target(), delivery.body().len());
///     Ok(())
/// }
/// # use actix_web::{App, web};
/// # use article_webhook_actix_web::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_delivery));
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |fixture: DeliveryRequest| {
/// #     let request = fixture.request("/");
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
/// assert_eq!(send(fixture::complete().event("article.updated")).await.status(), 204);
/// assert_eq!(send(fixture::complete().defect(Defect::JobIdMismatch)).await.status(), 422);
/// # });
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "handlers take it apart in their arguments")]
pub struct RawDelivery(pub Delivery);

impl FromRequest for RawDelivery {
    type Error = RefusedResponse;
    type Future = ExtractorFuture<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        extract(request, payload, |intake| intake.read().map(Self), |Self(delivery)| delivery)
    }
}

fn extract<T: 'static>(
    request: &HttpRequest,
    payload: &mut Payload,
    read: fn(Intake) -> Result<T, Refused>,
    delivery: fn(&T) -> &Delivery,
) -> ExtractorFuture<T> {
    let data = || request.app_data::<Data<Receiver>>().map(Data::get_ref);
    let Some(receiver) = request.app_data::<Receiver>().or_else(data).cloned() else {
        return Box::pin(std::future::ready(Err(RefusedResponse::no_receiver())));
    };
    let headers = ActixHeaders(request.headers());
    let opened = receiver.open_request(request.method().as_str(), &headers);
    let body = PayloadBody(payload.take());
    let request = request.clone();
    Box::pin(async move {
        let (received, payload) = receive_body(&receiver, opened, body, read).await;
        let received = received.map_err(|refused| RefusedResponse::new(refused, payload))?;
        admit(request, delivery(&received)).await;
        Ok(received)
    })
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use actix_web::{
        App, HttpResponse,
        test::{call_service, init_service},
        web,
    };
    use article_webhook::{Rejection, fixture};

    use super::*;
    use crate::fixture::DeliveryRequestExt;

    #[actix_web::test]
    async fn a_body_that_another_extractor_has_read_is_a_mistake_of_the_application() {
        async fn on_article(
            _first: web::Bytes,
            second: Result<ArticleComplete, RefusedResponse>,
        ) -> Result<HttpResponse, RefusedResponse> {
            let refused = second.expect_err("there is nothing left to read");
            assert_eq!(*refused.refused().unwrap().rejection(), Rejection::AlreadyRead);
            Err(refused)
        }
        let app = App::new().app_data(fixture::receiver());
        let app = init_service(app.service(web::resource("/").to(on_article))).await;
        let request = fixture::complete().request("/").to_request();
        assert_eq!(call_service(&app, request).await.status(), 500);
    }
}
