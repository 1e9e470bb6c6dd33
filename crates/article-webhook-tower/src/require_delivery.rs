use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use article_webhook::{
    Receiver, Refused,
    adapter::{Intake, RunSlot, report_refusal},
};
use bytes::Bytes;
use http::{Request, Response, header::AUTHORIZATION};
use http_body_util::{Either, Full};
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    body::{RequestBody, receive_body},
    response::response,
};

type OnRefused = Arc<dyn Fn(&Refused) + Send + Sync>;

/// Passes only deliveries to the inner service, with the [`Delivery`](article_webhook::Delivery) in the
/// request's extensions and its bytes in the request's body.
///
/// The inner service's response is returned as it is. Its work is dropped when the sender disconnects, unless a
/// [`RunToCompletion`](crate::RunToCompletion) is around this layer. Work that must survive a crash belongs in a
/// [`Sink`](crate::Sink), mounted with [`receive`](crate::receive()).
///
/// The layer is always ready. It polls the inner service for readiness after the delivery has arrived, so
/// that unauthenticated requests use none of its capacity.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, RequireDeliveryLayer};
/// use axum::{Extension, Router, routing::post};
/// # use article_webhook_tower::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # use tower::ServiceExt;
///
/// async fn on_delivery(Extension(delivery): Extension<Delivery>) {
///     println!("{} for {}", delivery.event(), delivery.target());
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new()
///     .route("/webhooks/articles", post(on_delivery))
///     .layer(RequireDeliveryLayer::new(receiver).on_refused(|refused| {
///         println!("ask the API for {:?}: {refused}", refused.job_id());
///     }));
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |delivery: DeliveryRequest| app.clone().oneshot(delivery.request("/webhooks/articles"));
/// assert_eq!(send(fixture::complete()).await?.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::WrongToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RequireDeliveryLayer {
    receiver: Receiver,
    on_refused: OnRefused,
}

impl RequireDeliveryLayer {
    /// A layer that checks requests with this receiver.
    #[must_use]
    pub fn new(receiver: Receiver) -> Self {
        Self { receiver, on_refused: Arc::new(|_| {}) }
    }

    /// Calls `report` for each authentic delivery that is refused, with the job if it is known, so that the
    /// application can fetch the article from the API later. It must not block. Without this setting refusals
    /// are only logged.
    #[must_use]
    pub fn on_refused(self, report: impl Fn(&Refused) + Send + Sync + 'static) -> Self {
        Self { on_refused: Arc::new(report), ..self }
    }
}

impl<S> Layer<S> for RequireDeliveryLayer {
    type Service = RequireDelivery<S>;

    fn layer(&self, inner: S) -> RequireDelivery<S> {
        RequireDelivery { layer: self.clone(), inner }
    }
}

impl fmt::Debug for RequireDeliveryLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequireDeliveryLayer")
            .field("receiver", &self.receiver)
            .finish_non_exhaustive()
    }
}

/// The service that a [`RequireDeliveryLayer`] makes from the inner service.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, RequireDelivery, RequireDeliveryLayer};
/// use http_body_util::Full;
/// use tower::{Layer, ServiceExt, service_fn};
/// # use article_webhook_tower::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # use bytes::Bytes;
///
/// let inner = service_fn(async |request: http::Request<Full<Bytes>>| {
///     let delivery = request.extensions().get::<Delivery>().expect("the layer lets nothing else through");
///     Ok::<_, std::convert::Infallible>(http::Response::new(delivery.job_id().to_string()))
/// });
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let service: RequireDelivery<_> = RequireDeliveryLayer::new(receiver).layer(inner);
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |delivery: DeliveryRequest| service.clone().oneshot(delivery.request("/"));
/// assert_eq!(send(fixture::complete()).await?.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::TooDeep)).await?.status(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RequireDelivery<S> {
    layer: RequireDeliveryLayer,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for RequireDelivery<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>, Future: Send> + Clone + Send + 'static,
    B: RequestBody,
{
    type Response = Response<Either<Full<Bytes>, R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let RequireDeliveryLayer { receiver, on_refused } = self.layer.clone();
        let opened = receiver.open_request(head.method.as_str(), &head.headers);
        // The inner service may log its requests, and must not log the token.
        if let Some(token) = head.headers.get_mut(AUTHORIZATION) {
            token.set_sensitive(true);
        }
        let mut inner = self.inner.clone();
        Box::pin(async move {
            let delivery = match receive_body(&receiver, opened, body, Intake::read).await {
                Ok(delivery) => delivery,
                Err(refused) => {
                    report_refusal(&refused, &*on_refused);
                    return Ok(response(refused.answer()).map(Either::Left));
                }
            };
            if let Some(slot) = head.extensions.get::<RunSlot>() {
                slot.admit(&delivery).await;
            }
            let mut request = Request::from_parts(head, Full::new(delivery.body().clone()));
            request.extensions_mut().insert(delivery);
            std::future::poll_fn(|context| inner.poll_ready(context)).await?;
            Ok(inner.call(request).await?.map(Either::Right))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering},
        },
        time::Duration,
    };

    use article_webhook::fixture::{self, Defect};
    use http_body::{Body, Frame};
    use tokio::time::timeout;
    use tower::{ServiceExt, limit::ConcurrencyLimit, service_fn};

    use super::*;

    /// A body that never arrives.
    struct Stalled;

    impl Body for Stalled {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_does_not_occupy_the_inner_service() {
        let inner = service_fn(async |_: Request<Full<Bytes>>| {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        });
        let one_place = ConcurrencyLimit::new(inner, 1);
        let service = RequireDeliveryLayer::new(fixture::receiver()).layer(one_place);

        let stranger = fixture::complete().defect(Defect::WrongToken).into_request("/");
        let stranger = service.clone().oneshot(stranger.map(|_| Stalled));
        let mut stranger = pin!(stranger);
        assert!(timeout(Duration::from_millis(100), stranger.as_mut()).await.is_err());

        let good = service.oneshot(fixture::complete().into_request("/").map(Full::new));
        let answer = timeout(Duration::from_millis(100), good).await.expect("there is a place");
        assert_eq!(answer.map(|answer| answer.status()), Ok(http::StatusCode::OK));
        let refused = stranger.await.map(|answer| answer.status());
        assert_eq!(refused, Ok(http::StatusCode::UNAUTHORIZED));
    }

    #[tokio::test]
    async fn refusals_of_authentic_deliveries_are_reported() {
        let reported = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&reported);
        let layer = RequireDeliveryLayer::new(fixture::receiver()).on_refused(move |refused| {
            assert_eq!(refused.job_id().map(ToString::to_string).as_deref(), Some("job_7c1e4a52"));
            count.fetch_add(1, Ordering::Relaxed);
        });
        let service = layer.layer(service_fn(async |_: Request<Full<Bytes>>| {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        }));
        let send = |defect| {
            let request = fixture::complete().defect(defect);
            service.clone().oneshot(request.into_request("/").map(Full::new))
        };
        for (defect, status, reports) in
            [(Defect::WrongToken, 401, 0), (Defect::TooDeep, 400, 1), (Defect::Compressed, 415, 2)]
        {
            assert_eq!(send(defect).await.unwrap().status(), status);
            assert_eq!(reported.load(Ordering::Relaxed), reports, "{defect:?}");
        }
    }
}
