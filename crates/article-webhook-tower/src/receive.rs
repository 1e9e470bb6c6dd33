use std::{
    convert::Infallible,
    error::Error,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::SystemTime,
};

use article_webhook::{Envelope, Intake, Receiver, Refused, Sink};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use pin_project_lite::pin_project;
use tokio::{task, time::sleep};
use tower_service::Service;

use crate::{answer::response, carry::Carrying};

/// Makes a service of a sink: it answers every request, as a delivery or with a refusal.
///
/// The sink runs in a task of its own. A sender that hangs up cannot cut its work in half; a panic
/// becomes 500; after [`sink_deadline`](Receiver::sink_deadline) the service is told to come again
/// while the work goes on. Refused deliveries that were authentic are reported to the sink.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, Reply, receive};
/// # use article_webhook_tower::fixture::{Post, Spoil};
/// # use http_body_util::Full;
/// use tower::ServiceExt;
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("storing {} bytes of {}", delivery.body().len(), delivery.job_id());
///     Reply::Stored // say so only after the commit
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let service = receive(receiver, store);
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |post: Post| service.clone().oneshot(post.into_request("/").map(Full::new));
/// assert_eq!(send(Post::complete()).await?.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::NoToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn receive<S: Sink + 'static>(receiver: Receiver, sink: S) -> Receive<S> {
    Receive { receiver, sink: Arc::new(sink), door: Door::Token }
}

/// Makes a service of a sink behind capability URLs: the last segment of the path is the secret, and
/// `Authorization` is ignored. Otherwise as [`receive`]. The path is a secret until it expires: keep it
/// out of access logs.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_tower::{AuthToken, CapabilityKey, Delivery, Receiver, Reply, receive_capability};
/// # use article_webhook_tower::fixture::Post;
/// # use http_body_util::Full;
/// use tower::ServiceExt;
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
/// # let send = |path: &str| service.clone().oneshot(Post::complete().into_request(path).map(Full::new));
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
    Receive { receiver, sink: Arc::new(sink), door: Door::Capability(key) }
}

/// The service that [`receive`] and `receive_capability` make. Clones share the sink.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receive, Receiver, Reply, Sink, receive};
///
/// struct Door<S> {
///     articles: Receive<S>,
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let door = Door { articles: receive(receiver, async |_: Delivery| Reply::Stored) };
/// assert!(!format!("{:?}", door.articles).contains("5f2b9c0e7a1d4e38"));
/// # Ok::<(), article_webhook_tower::TokenError>(())
/// ```
pub struct Receive<S> {
    receiver: Receiver,
    sink: Arc<S>,
    door: Door,
}

/// How a sender proves to be the service.
#[derive(Debug, Clone)]
enum Door {
    Token,
    #[cfg(feature = "capability")]
    Capability(article_webhook::CapabilityKey),
}

impl<S: Sink> Receive<S> {
    fn open<B>(&self, request: &Request<B>) -> Result<Envelope, Refused> {
        let (method, headers) = (request.method().as_str(), request.headers());
        match &self.door {
            Door::Token => self.receiver.open_request(method, headers),
            #[cfg(feature = "capability")]
            Door::Capability(key) => {
                let (path, now) = (request.uri().path(), SystemTime::now());
                self.receiver.open_capability_request(key, method, path, now, headers)
            }
        }
    }
}

impl<S, B> Service<Request<B>> for Receive<S>
where
    S: Sink + 'static,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Receiving<B>;

    /// Always: what bounds the number of deliveries at a time belongs in front of it.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Receiving<B> {
        let opened = self.open(&request);
        let Self { receiver, sink, .. } = self.clone();
        let carrying = Carrying::new(request.into_body(), |mut body| async move {
            let carried =
                receiver.carry(opened, &mut body, sleep, SystemTime::now(), Intake::read).await;
            match carried {
                Ok(delivery) => {
                    let job_id = delivery.job_id().clone();
                    // Dropping this future, as hyper does when the sender hangs up, leaves the task running.
                    let task = task::spawn(async move { sink.accept(delivery).await });
                    response(receiver.wait(&job_id, task, sleep).await)
                }
                Err(refused) => {
                    refused.report_to(&sink);
                    response(refused.answer())
                }
            }
        });
        Receiving { carrying }
    }
}

impl<S> Clone for Receive<S> {
    fn clone(&self) -> Self {
        let Self { receiver, sink, door } = self;
        Self { receiver: receiver.clone(), sink: Arc::clone(sink), door: door.clone() }
    }
}

impl<S> fmt::Debug for Receive<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive")
            .field("receiver", &self.receiver)
            .field("door", &self.door)
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// An exchange of a [`Receive`]. It is `Send` when the body is.
    ///
    /// ```
    /// use article_webhook_tower::Receiving;
    ///
    /// fn is_send<T: Send>() {}
    /// is_send::<Receiving<http_body_util::Full<bytes::Bytes>>>();
    /// ```
    ///
    /// ```compile_fail
    /// # use article_webhook_tower::Receiving;
    /// # fn is_send<T: Send>() {}
    /// is_send::<Receiving<std::rc::Rc<str>>>();
    /// ```
    pub struct Receiving<B> {
        #[pin]
        carrying: Carrying<B, Response<Full<Bytes>>>,
    }
}

impl<B> Future for Receiving<B>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().carrying.poll(context).map(Ok)
    }
}

impl<B> fmt::Debug for Receiving<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiving").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use article_webhook::{
        Delivery, Reply,
        fixture::{self, Post},
    };

    use super::*;

    async fn store(_: Delivery) -> Reply {
        Reply::Stored
    }

    #[test]
    fn a_service_and_its_answer_show_no_secret() {
        let mut service = receive(fixture::receiver(), store);
        assert_eq!(
            format!("{service:?}"),
            r#"Receive { receiver: Receiver { targets: ["default"], body_limit: 8388608, .. }, door: Token, .. }"#,
        );
        let receiving = service.call(Post::complete().into_request("/").map(Full::new));
        assert_eq!(format!("{receiving:?}"), "Receiving { .. }");
    }
}
