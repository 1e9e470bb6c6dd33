use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use article_webhook::{
    Envelope, Receiver, Refused, Sink,
    adapter::{Intake, dispatch},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::{task, time::sleep};
use tower_service::Service;

use crate::{
    body::{RequestBody, receive_body},
    response::response,
};

/// Makes a service from a sink. It answers every request: a delivery with the sink's reply, any other with a
/// refusal.
///
/// The sink runs in a task of its own, so a sender that disconnects cannot stop its work halfway. A panic is
/// answered with 500. After [`answer_deadline`](Receiver::answer_deadline) the answer is 503, and the task continues.
/// Refused deliveries that were authentic are reported to the sink.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, Reply, receive};
/// use http_body_util::Full;
/// use tower::ServiceExt;
/// # use article_webhook_tower::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("storing {} bytes of {}", delivery.body().len(), delivery.job_id());
///     Reply::Stored // return this only after the commit
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let service = receive(receiver, store);
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |delivery: DeliveryRequest| service.clone().oneshot(delivery.request("/"));
/// assert_eq!(send(fixture::complete()).await?.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::NoToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn receive<S: Sink + 'static>(receiver: Receiver, sink: S) -> Receive<S> {
    Receive { receiver, sink: Arc::new(sink), authentication: Authentication::Token }
}

/// Makes a service from a sink behind capability URLs: the last segment of the path is the secret, and
/// `Authorization` is ignored. The rest is the same as for [`receive`]. The path is a secret until it expires: keep
/// it out of access logs.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_tower::{AuthToken, CapabilityKey, Delivery, Receiver, Reply, receive_capability};
/// use http_body_util::Full;
/// use tower::ServiceExt;
/// # use article_webhook_tower::fixture::{self, DeliveryRequestExt};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("{:?} is fulfilled by {}", delivery.intent(), delivery.job_id());
///     Reply::Stored
/// }
///
/// let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?;
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let service = receive_capability(receiver, key.clone(), store);
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |path: &str| service.clone().oneshot(fixture::complete().request(path));
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
) -> Receive<S> {
    Receive { receiver, sink: Arc::new(sink), authentication: Authentication::Capability(key) }
}

/// The service that [`receive`] and `receive_capability` make. Clones share the sink.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receive, Receiver, Reply, receive};
///
/// struct Application<S> {
///     articles: Receive<S>,
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let application = Application { articles: receive(receiver, async |_: Delivery| Reply::Stored) };
/// assert!(!format!("{:?}", application.articles).contains("5f2b9c0e7a1d4e38"));
/// # Ok::<(), article_webhook_tower::TokenError>(())
/// ```
pub struct Receive<S> {
    receiver: Receiver,
    sink: Arc<S>,
    authentication: Authentication,
}

/// How a request is authenticated.
#[derive(Debug, Clone)]
enum Authentication {
    Token,
    #[cfg(feature = "capability")]
    Capability(article_webhook::CapabilityKey),
}

impl<S: Sink> Receive<S> {
    fn open<B>(&self, request: &Request<B>) -> Result<Envelope, Refused> {
        let (method, headers) = (request.method().as_str(), request.headers());
        match &self.authentication {
            Authentication::Token => self.receiver.open_request(method, headers),
            #[cfg(feature = "capability")]
            Authentication::Capability(key) => {
                let (path, now) = (request.uri().path(), std::time::SystemTime::now());
                self.receiver.open_capability_request(key, method, path, now, headers)
            }
        }
    }
}

impl<S: Sink + 'static, B: RequestBody> Service<Request<B>> for Receive<S> {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    /// Always ready. A limit on concurrent deliveries belongs in a layer around this service.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let opened = self.open(&request);
        let (receiver, sink) = (self.receiver.clone(), Arc::clone(&self.sink));
        Box::pin(async move {
            let received = receive_body(&receiver, opened, request.into_body(), Intake::read).await;
            // hyper drops this future when the sender disconnects. The task goes on.
            let answer = dispatch(&receiver, received, sink, task::spawn, sleep).await;
            Ok(response(answer))
        })
    }
}

impl<S> Clone for Receive<S> {
    fn clone(&self) -> Self {
        Self {
            receiver: self.receiver.clone(),
            sink: Arc::clone(&self.sink),
            authentication: self.authentication.clone(),
        }
    }
}

impl<S> fmt::Debug for Receive<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive")
            .field("receiver", &self.receiver)
            .field("authentication", &self.authentication)
            .finish_non_exhaustive()
    }
}
