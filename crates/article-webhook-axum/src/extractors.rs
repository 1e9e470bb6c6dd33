use article_webhook::{
    ArticleResult, Delivery, Receiver, Refused,
    adapter::{Intake, RunSlot},
};
use axum_core::extract::{FromRef, FromRequest, Request};

use crate::{body::receive_body, refused_response::RefusedResponse};

/// Extracts the article of a delivery, and the delivery. The handler runs only for an authentic, complete article.
///
/// `ArticleComplete(result, ..)` takes the article alone. The [`Delivery`] has the target, the event, the intent, the
/// exact bytes and the drift.
///
/// It reads the body, so it is the last argument of the handler. The [`Receiver`] comes from the router's state, of
/// which it is the whole or a field (`#[derive(FromRef)]`). If a handler is refused by the compiler,
/// `#[debug_handler(state = App)]` says why, and [the guide](article_webhook::guide::compile) has the fix. Both macros
/// belong to axum's feature `macros`. After `Ok(())` the service is done; after
/// [`Retry`](crate::Retry) it retries. Work that must survive a crash belongs in a [`Sink`](crate::Sink), mounted
/// with [`receive`](crate::receive()).
///
/// There is no `Option<ArticleComplete>`: it would turn a forged delivery into `None`.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, AuthToken, Receiver, Retry};
/// use axum::{Router, routing::post};
///
/// async fn on_article(ArticleComplete(result, delivery): ArticleComplete) -> Result<(), Retry> {
///     println!("{:?} for {}: {:?}", result.job_id, delivery.target(), result.article.title);
///     Ok(())
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new()
///     .route("/webhooks/articles", post(on_article))
///     .with_state(receiver);
/// # use article_webhook_axum::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |delivery: DeliveryRequest| app.clone().oneshot(delivery.request("/webhooks/articles"));
/// assert_eq!(send(fixture::complete()).await?.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::WrongToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "handlers take it apart in their arguments")]
pub struct ArticleComplete(pub ArticleResult, pub Delivery);

impl<S: Sync> FromRequest<S> for ArticleComplete
where
    Receiver: FromRef<S>,
{
    type Rejection = RefusedResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self, RefusedResponse> {
        extract(request, state, Intake::article, |(_, delivery)| delivery)
            .await
            .map(|(result, delivery)| Self(result, delivery))
    }
}

/// Extracts a [`Delivery`]: authentic and well-formed, with its exact bytes, of any event.
///
/// For handlers that need the exact bytes, or events that this version does not know.
///
/// ```
/// use article_webhook_axum::{RawDelivery, Retry};
///
/// async fn on_delivery(RawDelivery(delivery): RawDelivery) -> Result<(), Retry> {
///     println!("{} for {}: {} bytes", delivery.event(), delivery.target(), delivery.body().len());
///     Ok(())
/// }
/// # use axum::{Router, routing::post};
/// # use article_webhook_axum::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # let app: Router = Router::new().route("/", post(on_delivery)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |delivery: DeliveryRequest| app.clone().oneshot(delivery.request("/"));
/// assert_eq!(send(fixture::complete().event("article.updated")).await?.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::JobIdMismatch)).await?.status(), 422);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "handlers take it apart in their arguments")]
pub struct RawDelivery(pub Delivery);

impl<S: Sync> FromRequest<S> for RawDelivery
where
    Receiver: FromRef<S>,
{
    type Rejection = RefusedResponse;

    async fn from_request(request: Request, state: &S) -> Result<Self, RefusedResponse> {
        extract(request, state, Intake::read, |delivery| delivery).await.map(Self)
    }
}

async fn extract<S, T>(
    request: Request,
    state: &S,
    read: fn(Intake) -> Result<T, Refused>,
    delivery: fn(&T) -> &Delivery,
) -> Result<T, RefusedResponse>
where
    Receiver: FromRef<S>,
{
    let receiver = Receiver::from_ref(state);
    let opened = receiver.open_request(request.method().as_str(), request.headers());
    let slot = request.extensions().get::<RunSlot>().cloned();
    let received = receive_body(&receiver, opened, request.into_body(), read).await;
    let received = received.map_err(RefusedResponse::new)?;
    if let Some(slot) = slot {
        slot.admit(delivery(&received)).await;
    }
    Ok(received)
}
