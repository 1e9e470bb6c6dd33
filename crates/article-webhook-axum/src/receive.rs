use std::{pin::Pin, sync::Arc};

use article_webhook::{Envelope, Intake, Receiver, Sink};
use axum_core::{extract::Request, response::Response};
use tokio::{task, time::sleep};

use crate::{answer::response, extract::carry};

type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Mounts a sink: the result is a handler that answers every request to the route.
///
/// The sink runs in a task of its own. A sender that hangs up cannot cut its work in half; a panic
/// becomes 500; after [`sink_deadline`](Receiver::sink_deadline) the service is told to come again
/// while the work goes on. Refused deliveries that were authentic are reported to the sink.
///
/// Mount it with `any`, and other methods get this receiver's 405 as well.
///
/// ```
/// use article_webhook_axum::{AuthToken, Receiver, Reply, article_webhook::Delivery, receive};
/// use axum::{Router, routing::any};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("storing {} bytes of {}", delivery.body().len(), delivery.job_id());
///     Reply::Stored // say so only after the commit
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new().route("/webhooks/articles", any(receive(receiver, store)));
/// # use article_webhook_axum::{fixture::{Post, Spoil}, test_request};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |post: Post| app.clone().oneshot(test_request(&post, "/webhooks/articles"));
/// assert_eq!(send(Post::complete()).await?.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::NoToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn receive<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
) -> impl Fn(Request) -> Answering + Clone + Send + Sync + 'static {
    mount(receiver, sink, |receiver, request| {
        receiver.open_request(request.method().as_str(), request.headers())
    })
}

/// Mounts a sink behind capability URLs: the last segment of the path is the secret, and
/// `Authorization` is ignored. Otherwise as [`receive`]. The path is a secret until it expires: keep it
/// out of access logs.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_axum::{AuthToken, CapabilityKey, Receiver, Reply, article_webhook::Delivery, receive_capability};
/// use axum::{Router, routing::any};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("{:?} is fulfilled by {}", delivery.intent(), delivery.job_id());
///     Reply::Stored
/// }
///
/// let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?;
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new()
///     .route("/webhooks/orders/{capability}", any(receive_capability(receiver, key.clone(), store)));
/// # use article_webhook_axum::{fixture::Post, test_request};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |path: &str| app.clone().oneshot(test_request(&Post::complete(), path));
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
) -> impl Fn(Request) -> Answering + Clone + Send + Sync + 'static {
    mount(receiver, sink, move |receiver, request| {
        let now = std::time::SystemTime::now();
        let (method, path) = (request.method().as_str(), request.uri().path());
        receiver.open_capability_request(&key, method, path, now, request.headers())
    })
}

fn mount<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
    open: impl Fn(&Receiver, &Request) -> Result<Envelope, article_webhook::Refused>
    + Clone
    + Send
    + Sync
    + 'static,
) -> impl Fn(Request) -> Answering + Clone + Send + Sync + 'static {
    let sink = Arc::new(sink);
    move |request| {
        let (receiver, sink) = (receiver.clone(), Arc::clone(&sink));
        let opened = open(&receiver, &request);
        Box::pin(async move {
            let answer = match carry(&receiver, opened, request.into_body(), Intake::read).await {
                Ok(delivery) => {
                    let job_id = delivery.job_id().clone();
                    // Dropping this future, as hyper does when the sender hangs up, leaves the task running.
                    let task = task::spawn(async move { sink.accept(delivery).await });
                    receiver.wait(&job_id, task, sleep).await
                }
                Err(refused) => {
                    refused.report_to(&sink);
                    refused.answer()
                }
            };
            response(answer)
        })
    }
}
