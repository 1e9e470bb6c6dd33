use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::SystemTime,
};

use article_webhook::{Delivery, Intake, Receiver, Refused};
use bytes::Bytes;
use http::{Request, Response, header::AUTHORIZATION, request::Parts};
use http_body::Body;
use http_body_util::{Either, Full};
use pin_project_lite::pin_project;
use tokio::time::sleep;
use tower_layer::Layer;
use tower_service::Service;

use crate::{answer::response, carry::Carrying};

/// Lets nothing but deliveries through to the service inside, which finds the
/// [`Delivery`] in the request's extensions, and its bytes in the request's body.
///
/// What that service answers goes back as it is. It may be dropped when the sender hangs up, and nobody
/// is told of refused deliveries: work that must survive belongs in a [`Sink`](crate::Sink)
/// behind [`receive`](crate::receive()).
///
/// It is always ready; the service inside is asked whether it is once the delivery is there, so that no stranger
/// takes one of its places.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, RequireDeliveryLayer};
/// use axum::{Extension, Router, routing::post};
/// # use article_webhook_tower::fixture::{Post, Spoil};
/// # use tower::ServiceExt;
///
/// async fn on_delivery(Extension(delivery): Extension<Delivery>) {
///     println!("{} for {}", delivery.event(), delivery.target());
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new()
///     .route("/webhooks/articles", post(on_delivery))
///     .layer(RequireDeliveryLayer::new(receiver));
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |post: Post| app.clone().oneshot(post.into_request("/webhooks/articles").map(axum::body::Body::from));
/// assert_eq!(send(Post::complete()).await?.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::WrongToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RequireDeliveryLayer {
    receiver: Receiver,
}

impl RequireDeliveryLayer {
    /// A layer that asks this receiver.
    ///
    /// ```
    /// use article_webhook_tower::{AuthToken, Receiver, RequireDeliveryLayer};
    ///
    /// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let layer = RequireDeliveryLayer::new(Receiver::new(token));
    /// assert!(AuthToken::new("Bearer ").is_err()); // no layer without a token that can be right
    /// # let _ = layer;
    /// # Ok::<(), article_webhook_tower::TokenError>(())
    /// ```
    #[must_use]
    pub fn new(receiver: Receiver) -> Self {
        Self { receiver }
    }
}

impl<S> Layer<S> for RequireDeliveryLayer {
    type Service = RequireDelivery<S>;

    fn layer(&self, inner: S) -> RequireDelivery<S> {
        RequireDelivery { receiver: self.receiver.clone(), inner }
    }
}

/// The service that a [`RequireDeliveryLayer`] makes of the one inside.
///
/// ```
/// use article_webhook_tower::{AuthToken, Delivery, Receiver, RequireDelivery, RequireDeliveryLayer};
/// # use article_webhook_tower::fixture::{Post, Spoil};
/// # use bytes::Bytes;
/// use http_body_util::Full;
/// use tower::{Layer, ServiceExt, service_fn};
///
/// let inner = service_fn(async |request: http::Request<Full<Bytes>>| {
///     let delivery = request.extensions().get::<Delivery>().expect("the layer lets nothing else in");
///     Ok::<_, std::convert::Infallible>(http::Response::new(delivery.job_id().to_string()))
/// });
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let service: RequireDelivery<_> = RequireDeliveryLayer::new(receiver).layer(inner);
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let send = |post: Post| service.clone().oneshot(post.into_request("/").map(Full::new));
/// assert_eq!(send(Post::complete()).await?.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::TooDeep)).await?.status(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RequireDelivery<S> {
    receiver: Receiver,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for RequireDelivery<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>> + Clone,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    type Response = Response<Either<Full<Bytes>, R>>;
    type Error = S::Error;
    type Future = Requiring<B, S, S::Future>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let receiver = self.receiver.clone();
        let opened = receiver.open_request(head.method.as_str(), &head.headers);
        // The service inside may log its requests: the token is not for its eyes.
        if let Some(token) = head.headers.get_mut(AUTHORIZATION) {
            token.set_sensitive(true);
        }
        let carrying = Carrying::new(body, |mut body| async move {
            receiver.carry(opened, &mut body, sleep, SystemTime::now(), Intake::read).await
        });
        let inside = Some((self.inner.clone(), head));
        Requiring { step: Step::Carrying { carrying, inside } }
    }
}

pin_project! {
    /// An exchange of a [`RequireDelivery`]. It is `Send` when the body and the service inside are.
    ///
    /// ```
    /// use article_webhook_tower::Requiring;
    /// # use {bytes::Bytes, http_body_util::Full};
    ///
    /// fn is_send<T: Send>() {}
    /// is_send::<Requiring<Full<Bytes>, axum::Router, axum::routing::future::RouteFuture<()>>>();
    /// ```
    pub struct Requiring<B, S, F> {
        #[pin]
        step: Step<B, S, F>,
    }
}

pin_project! {
    #[project = StepProjection]
    enum Step<B, S, F> {
        Carrying {
            #[pin]
            carrying: Carrying<B, Result<Delivery, Refused>>,
            inside: Option<(S, Parts)>,
        },
        Waiting {
            inner: S,
            request: Option<Request<Full<Bytes>>>,
        },
        Inside {
            #[pin]
            future: F,
        },
    }
}

impl<B, S, R> Future for Requiring<B, S, S::Future>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
    S: Service<Request<Full<Bytes>>, Response = Response<R>>,
{
    type Output = Result<Response<Either<Full<Bytes>, R>>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut step = self.project().step;
        loop {
            match step.as_mut().project() {
                StepProjection::Carrying { carrying, inside } => {
                    let delivery = match ready!(carrying.poll(context)) {
                        Ok(delivery) => delivery,
                        Err(refused) => {
                            let response = response(refused.answer());
                            return Poll::Ready(Ok(response.map(Either::Left)));
                        }
                    };
                    let (inner, head) =
                        inside.take().expect("a future is not polled after it ended");
                    let mut request = Request::from_parts(head, Full::new(delivery.body().clone()));
                    request.extensions_mut().insert(delivery);
                    step.set(Step::Waiting { inner, request: Some(request) });
                }
                StepProjection::Waiting { inner, request } => {
                    ready!(inner.poll_ready(context))?;
                    let request = request.take().expect("a future is not polled after it ended");
                    let future = inner.call(request);
                    step.set(Step::Inside { future });
                }
                StepProjection::Inside { future } => {
                    let response = ready!(future.poll(context))?;
                    return Poll::Ready(Ok(response.map(Either::Right)));
                }
            }
        }
    }
}

impl<B, S, F> fmt::Debug for Requiring<B, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requiring").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, pin::pin, time::Duration};

    use article_webhook::fixture::{self, Post, Spoil};
    use http_body::Frame;
    use tokio::time::timeout;
    use tower::{ServiceExt, limit::ConcurrencyLimit, service_fn};

    use super::*;

    #[test]
    fn an_answer_to_come_shows_nothing_of_its_request() {
        let inner = service_fn(async |_: Request<Full<Bytes>>| {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        });
        let mut service = RequireDeliveryLayer::new(fixture::receiver()).layer(inner);
        let requiring = service.call(Post::complete().into_request("/").map(Full::new));
        assert_eq!(format!("{requiring:?}"), "Requiring { .. }");
    }

    /// A body that does not come.
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
    async fn a_stranger_takes_no_place_of_the_service_inside() {
        let inner = service_fn(async |_: Request<Full<Bytes>>| {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        });
        let one_place = ConcurrencyLimit::new(inner, 1);
        let service = RequireDeliveryLayer::new(fixture::receiver()).layer(one_place);

        let stranger = Post::complete().spoiled(Spoil::WrongToken).into_request("/");
        let stranger = service.clone().oneshot(stranger.map(|_| Stalled));
        let mut stranger = pin!(stranger);
        assert!(timeout(Duration::from_millis(100), stranger.as_mut()).await.is_err());

        let good = service.oneshot(Post::complete().into_request("/").map(Full::new));
        let answer = timeout(Duration::from_millis(100), good).await.expect("there is a place");
        assert_eq!(answer.map(|answer| answer.status()), Ok(http::StatusCode::OK));
        let refused = stranger.await.map(|answer| answer.status());
        assert_eq!(refused, Ok(http::StatusCode::UNAUTHORIZED));
    }
}
