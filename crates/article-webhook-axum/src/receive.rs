use std::{pin::Pin, sync::Arc};

use article_webhook::{
    Envelope, Receiver, Refused, Sink,
    adapter::{Intake, dispatch},
};
use axum_core::{extract::Request, response::Response};
use tokio::{task, time::sleep};

use crate::{body::receive_body, response::response};

type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Mounts a sink: returns a handler that answers every request to the route.
///
/// The sink runs in a task of its own, so a sender that disconnects cannot stop its work halfway. A panic is
/// answered with 500. After [`answer_deadline`](Receiver::answer_deadline) the answer is 503, and the task
/// continues. Refused deliveries that were authentic are reported to the sink.
///
/// Mount it with `post`, which answers other methods with 405 and `Allow: POST`. If it gets them, so does this handler.
///
/// ```
/// use article_webhook_axum::{AuthToken, Delivery, Receiver, Reply, receive};
/// use axum::{Router, routing::post};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("storing {} bytes of {}", delivery.body().len(), delivery.job_id());
///     Reply::Stored // return this only after the commit
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new().route("/webhooks/articles", post(receive(receiver, store)));
/// # use article_webhook_axum::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |delivery: DeliveryRequest| app.clone().oneshot(delivery.request("/webhooks/articles"));
/// assert_eq!(send(fixture::complete()).await?.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::NoToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn receive<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
) -> impl Fn(Request) -> ResponseFuture + Clone + Send + Sync + 'static {
    mount(receiver, sink, |receiver, request| {
        receiver.open_request(request.method().as_str(), request.headers())
    })
}

/// Mounts a sink behind capability URLs: the last segment of the path is the secret, and `Authorization` is
/// ignored. The rest is the same as for [`receive`]. The path is a secret until it expires: keep it out of
/// access logs.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_axum::{AuthToken, CapabilityKey, Delivery, Receiver, Reply, receive_capability};
/// use axum::{Router, routing::post};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("{:?} is fulfilled by {}", delivery.intent(), delivery.job_id());
///     Reply::Stored
/// }
///
/// let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?;
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new()
///     .route("/webhooks/orders/{capability}", post(receive_capability(receiver, key.clone(), store)));
/// # use article_webhook_axum::fixture::{self, DeliveryRequestExt};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |path: &str| app.clone().oneshot(fixture::complete().request(path));
///
/// let segment = key.mint("order-17", SystemTime::now() + Duration::from_secs(86_400))?;
/// let path = format!("/webhooks/orders/{}", segment.as_str());
/// assert_eq!(send(&path).await?.status(), 200);
/// assert_eq!(send("/webhooks/orders/guess").await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "capability")]
pub fn receive_capability<S: Sink + 'static>(
    receiver: Receiver,
    key: article_webhook::CapabilityKey,
    sink: S,
) -> impl Fn(Request) -> ResponseFuture + Clone + Send + Sync + 'static {
    mount(receiver, sink, move |receiver, request| {
        let now = std::time::SystemTime::now();
        let (method, path) = (request.method().as_str(), request.uri().path());
        receiver.open_capability_request(&key, method, path, now, request.headers())
    })
}

fn mount<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
    open: impl Fn(&Receiver, &Request) -> Result<Envelope, Refused> + Clone + Send + Sync + 'static,
) -> impl Fn(Request) -> ResponseFuture + Clone + Send + Sync + 'static {
    let sink = Arc::new(sink);
    move |request| {
        let (receiver, sink) = (receiver.clone(), Arc::clone(&sink));
        let opened = open(&receiver, &request);
        Box::pin(async move {
            let received = receive_body(&receiver, opened, request.into_body(), Intake::read).await;
            // hyper drops this future when the sender disconnects. The task continues.
            let answer = dispatch(&receiver, received, sink, task::spawn, sleep).await;
            response(answer)
        })
    }
}
