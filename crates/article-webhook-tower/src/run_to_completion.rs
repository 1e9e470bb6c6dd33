use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use article_webhook::{
    Receiver,
    adapter::{MountId, RunSlot},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Either, Full};
use tokio::{
    task,
    time::{Instant, sleep},
};
use tower_layer::Layer;
use tower_service::Service;

use crate::response::response;

/// Runs the handler of a delivery to its end, and once at a time for each job. A layer around a
/// [`RequireDelivery`](crate::RequireDelivery) and the service that handles its deliveries.
///
/// Without it hyper drops the handler where it waits when the sender disconnects or a time-out layer gives the request
/// up, and nothing is logged. A retry of the service runs beside a handler that is still running.
///
/// With it:
///
/// - The handler runs in a task of its own to its end. If that takes longer than
///   [`answer_deadline`](article_webhook::ReceiverBuilder::answer_deadline) (5 seconds), the answer is 503, and the
///   handler continues.
/// - A panic is answered with 500. This and every other failure is logged with the job id.
/// - A retry of a delivery whose handler is running waits for that handler and is answered as it ends. Another body of
///   the same job waits and is handled then. After
///   [`join_limit`](article_webhook::ReceiverBuilder::join_limit) (120 seconds) a retry runs the handler again beside
///   the first, and the log has an error.
/// - After a success (2xx) the same delivery is answered with 200 and not handled again, for
///   [`remember_for`](article_webhook::ReceiverBuilder::remember_for) (15 minutes): the sender may not have seen the
///   first answer. Failures are not remembered.
///
/// A time-out layer between this layer and the handler drops the handler as before. Two handlers of one
/// receiver need two paths: what routes the requests must not cut the path before it gets here. Requests without an accepted delivery pass unchanged. What it knows is in the memory of the process, so
/// the job id is still the key to save an article by. When the server has stopped, wait for
/// [`Receiver::handlers_ended`].
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, RequireDeliveryLayer, RunToCompletion};
/// use http_body_util::Full;
/// use tower::{Layer, ServiceExt, service_fn};
/// # use article_webhook_tower::fixture::{self, Defect, DeliveryRequest};
/// # use bytes::Bytes;
///
/// let handler = service_fn(async |request: http::Request<Full<Bytes>>| {
///     let delivery = request.extensions().get::<Delivery>().expect("the layer lets nothing else through");
///     println!("handling {}", delivery.job_id());
///     let response = http::Response::builder().status(204).body(Full::<Bytes>::default());
///     Ok::<_, std::convert::Infallible>(response.expect("a status is a response"))
/// });
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let service = RequireDeliveryLayer::new(receiver.clone()).layer(handler);
/// let service = RunToCompletion::new(receiver).layer(service);
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |request: DeliveryRequest| service.clone().oneshot(request.into_request("/").map(Full::new));
/// assert_eq!(send(fixture::complete()).await?.status(), 204);
/// assert_eq!(send(fixture::complete()).await?.status(), 200); // a duplicate, which is not handled
/// assert_eq!(send(fixture::complete().defect(Defect::WrongToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunToCompletion {
    receiver: Receiver,
}

impl RunToCompletion {
    /// A layer for the handlers that receive with this receiver or a clone of it.
    #[must_use]
    pub fn new(receiver: Receiver) -> Self {
        Self { receiver }
    }
}

impl<S> Layer<S> for RunToCompletion {
    type Service = RunToCompletionService<S>;

    fn layer(&self, inner: S) -> RunToCompletionService<S> {
        RunToCompletionService { receiver: self.receiver.clone(), inner }
    }
}

/// The service that a [`RunToCompletion`] makes from the inner service. See there.
#[derive(Debug, Clone)]
pub struct RunToCompletionService<S> {
    receiver: Receiver,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for RunToCompletionService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    B: Send + 'static,
    R: Send + 'static,
{
    type Response = Response<Either<Full<Bytes>, R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    /// Always ready: the inner service is waited for in the task.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let clock = || Instant::now().into_std();
        let slot = {
            let uri = request.uri().path_and_query().map_or("/", |uri| uri.as_str());
            // The same for all connections, each of which may have a service of its own.
            RunSlot::new(&self.receiver, MountId::SHARED, request.headers(), uri, clock)
        };
        request.extensions_mut().insert(slot.clone());
        let mut inner = self.inner.clone();
        let inner = async move {
            poll_fn(|context| inner.poll_ready(context)).await?;
            inner.call(request).await
        };
        let status = |result: &Result<Response<R>, _>| result.as_ref().ok().map(Response::status);
        Box::pin(async move {
            // hyper drops this future when the sender disconnects. A handler that runs continues.
            match slot.supervise(inner, status, task::spawn, sleep).await {
                Ok(result) => Ok(result?.map(Either::Right)),
                Err(answer) => Ok(response(answer).map(Either::Left)),
            }
        })
    }
}
