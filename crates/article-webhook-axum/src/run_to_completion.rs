use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use article_webhook::{
    Receiver,
    adapter::{MountId, RunSlot},
};
use axum_core::{extract::Request, response::Response};
use tokio::{
    task,
    time::{Instant, sleep},
};
use tower_layer::Layer;
use tower_service::Service;

use crate::response::response;

/// Runs the handler of a delivery to its end, and once at a time for each job. A layer for the route of a handler that
/// takes [`ArticleComplete`](crate::ArticleComplete) or [`RawDelivery`](crate::RawDelivery).
///
/// Without it axum drops the handler where it waits when the sender disconnects or a time-out layer gives the request
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
/// Handlers keep their extractors. Put the layer next to the handler: a time-out layer between the two drops the handler
/// as before. In a router that is nested under a path with a parameter, put it around the outer router: the inner one does
/// not see the parameter. Requests without an accepted delivery pass unchanged. What it knows is in the memory of the process, so
/// the job id is still the key to save an article by. When the server has stopped, wait for
/// [`Receiver::handlers_ended`].
///
/// ```
/// use article_webhook_axum::{ArticleComplete, AuthToken, Receiver, Retry, RunToCompletion};
/// use axum::{Router, routing::post};
///
/// async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> Result<(), Retry> {
///     println!("received {:?}", result.article.title);
///     Ok(())
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let layer = RunToCompletion::new(receiver.clone());
/// let app: Router = Router::new()
///     .route("/webhooks/articles", post(on_article).layer(layer))
///     .with_state(receiver);
/// # use article_webhook_axum::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = async |request: DeliveryRequest| {
/// #     let response = app.clone().oneshot(request.request("/webhooks/articles")).await?;
/// #     let status = response.status().as_u16();
/// #     let body = axum::body::to_bytes(response.into_body(), 1000).await?;
/// #     Ok::<_, Box<dyn std::error::Error>>((status, String::from_utf8_lossy(&body).into_owned()))
/// # };
/// assert_eq!(send(fixture::complete()).await?, (200, "".into()));
/// assert_eq!(send(fixture::complete()).await?, (200, r#"{"status":"duplicate"}"#.into()));
/// assert_eq!(send(fixture::complete().defect(Defect::WrongToken)).await?.0, 401);
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
        RunToCompletionService { receiver: self.receiver.clone(), mount: MountId::unique(), inner }
    }
}

/// The service that a [`RunToCompletion`] makes from the inner service. See there.
#[derive(Debug, Clone)]
pub struct RunToCompletionService<S> {
    receiver: Receiver,
    mount: MountId,
    inner: S,
}

impl<S> Service<Request> for RunToCompletionService<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    /// Always ready: the inner service is waited for in the task.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let clock = || Instant::now().into_std();
        let slot = {
            let uri = request.uri().path_and_query().map_or("/", |uri| uri.as_str());
            RunSlot::new(&self.receiver, self.mount, request.headers(), uri, clock)
        };
        request.extensions_mut().insert(slot.clone());
        let mut inner = self.inner.clone();
        let inner = async move {
            poll_fn(|context| inner.poll_ready(context)).await?;
            inner.call(request).await
        };
        let status = |result: &Result<Response, _>| result.as_ref().ok().map(Response::status);
        Box::pin(async move {
            // hyper drops this future when the sender disconnects. A handler that runs continues.
            let supervised = slot.supervise(inner, status, task::spawn, sleep).await;
            supervised.unwrap_or_else(|answer| Ok(response(answer)))
        })
    }
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };

    use axum::{
        Router,
        middleware::{Next, from_fn},
        routing::{any, post},
    };
    use tower::ServiceExt;

    use super::*;
    use crate::{
        ArticleComplete,
        fixture::{self, DeliveryRequestExt},
    };

    #[tokio::test]
    async fn each_of_two_nested_routers_handles_the_same_delivery() {
        let (receiver, runs) = (fixture::receiver(), Arc::<AtomicU32>::default());
        let nested = || {
            let runs = Arc::clone(&runs);
            let handler = post(async move |_: ArticleComplete| _ = runs.fetch_add(1, Relaxed));
            let layer = RunToCompletion::new(receiver.clone());
            Router::new().route("/articles", handler.layer(layer)).with_state(receiver.clone())
        };
        let app = Router::new().nest("/blog", nested()).nest("/shop", nested());
        for (path, ran) in [("/blog/articles", 1), ("/shop/articles", 2), ("/blog/articles", 2)] {
            let response = app.clone().oneshot(fixture::complete().request(path)).await.unwrap();
            assert_eq!((response.status().as_u16(), runs.load(Relaxed)), (200, ran), "{path}");
        }
    }

    #[tokio::test]
    async fn a_handler_runs_behind_a_middleware_with_a_task_of_its_own() {
        let receiver = fixture::receiver();
        let in_a_task = from_fn(async |request, next: Next| {
            task::spawn(next.run(request)).await.expect("the handler does not panic")
        });
        let layers = (RunToCompletion::new(receiver.clone()), in_a_task);
        let handler = post(async |_: ArticleComplete| ()).layer(layers);
        let app = Router::new().route("/", handler).with_state(receiver.clone());
        let response = app.oneshot(fixture::complete().request("/")).await.unwrap();
        assert_eq!(response.status(), 200);
        receiver.handlers_ended().await;
    }

    #[tokio::test]
    async fn another_method_is_refused_where_the_route_takes_any() {
        let receiver = fixture::receiver();
        let app = Router::new().route("/", any(async |_: ArticleComplete| ())).with_state(receiver);
        let mut request = fixture::complete().request("/");
        *request.method_mut() = "GET".parse().unwrap();
        let response = app.oneshot(request).await.unwrap();
        assert_eq!(response.status(), 405);
        assert_eq!(response.headers()["allow"], "POST");
    }
}
