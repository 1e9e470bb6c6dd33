use std::time::SystemTime;

use article_webhook::{ArticleResult, Broken, Chunks, Envelope, Intake, Receiver};
use axum_core::{
    body::Body,
    extract::{FromRef, FromRequest, Request},
};
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::time::sleep;

use crate::Refused;

/// The article of a delivery, as an extractor: the handler runs for an authentic, complete article
/// and for nothing else.
///
/// The [`Receiver`] comes from the router's state. What the handler returns drives the service's
/// retries: `Ok(())` ends the matter, [`Retry`](crate::Retry) asks for another attempt. Work that
/// must survive a crash belongs behind a [`Sink`](crate::Sink) and [`receive`](crate::receive()).
///
/// There is no `Option<ArticleComplete>`: it would turn a forged delivery into `None`.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, AuthToken, Receiver, Retry};
/// use axum::{Router, routing::post};
///
/// async fn on_article(ArticleComplete(result): ArticleComplete) -> Result<(), Retry> {
///     println!("received {:?}: {:?}", result.job_id, result.article.title);
///     Ok(())
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app: Router = Router::new()
///     .route("/webhooks/articles", post(on_article))
///     .with_state(receiver);
/// # use article_webhook_axum::{fixture::{Post, Spoil}, test_request};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |post: Post| app.clone().oneshot(test_request(&post, "/webhooks/articles"));
/// assert_eq!(send(Post::complete()).await?.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::WrongToken)).await?.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArticleComplete(pub ArticleResult);

impl<S: Sync> FromRequest<S> for ArticleComplete
where
    Receiver: FromRef<S>,
{
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        let receiver = Receiver::from_ref(state);
        let opened = receiver.open(request.headers());
        let article = carry(&receiver, opened, request.into_body(), Intake::article).await;
        article.map(Self).map_err(Refused)
    }
}

/// A delivery as it came, as an extractor: authentic and well-formed, of whatever event. Holds the
/// core's [`Delivery`](article_webhook::Delivery).
///
/// For handlers that want the exact bytes, or events that this version does not know.
///
/// ```
/// use article_webhook_axum::{Delivery, Retry};
///
/// async fn on_delivery(Delivery(delivery): Delivery) -> Result<(), Retry> {
///     println!("{} for {}: {} bytes", delivery.event(), delivery.target(), delivery.body().len());
///     Ok(())
/// }
/// # use axum::{Router, routing::post};
/// # use article_webhook_axum::{fixture::{self, Post, Spoil}, test_request};
/// # let app: Router = Router::new().route("/", post(on_delivery)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |post: Post| app.clone().oneshot(test_request(&post, "/"));
/// assert_eq!(send(Post::complete().spoiled(Spoil::UnknownEvent)).await?.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::JobIdMismatch)).await?.status(), 422);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Delivery(pub article_webhook::Delivery);

impl<S: Sync> FromRequest<S> for Delivery
where
    Receiver: FromRef<S>,
{
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        let receiver = Receiver::from_ref(state);
        let opened = receiver.open(request.headers());
        let delivery = carry(&receiver, opened, request.into_body(), Intake::read).await;
        delivery.map(Self).map_err(Refused)
    }
}

/// Lets the core take the body in, or drain it.
pub(crate) async fn carry<T>(
    receiver: &Receiver,
    opened: Result<Envelope, article_webhook::Refused>,
    body: Body,
    read: impl FnOnce(Intake) -> Result<T, article_webhook::Refused>,
) -> Result<T, article_webhook::Refused> {
    receiver.carry(opened, &mut Frames(body), sleep, SystemTime::now(), read).await
}

struct Frames(Body);

impl Chunks for Frames {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        loop {
            match self.0.frame().await?.map(|frame| frame.into_data()) {
                Ok(Ok(chunk)) => return Some(Ok(chunk)),
                Ok(Err(_trailers)) => {}
                Err(error) => return Some(Err(Broken::of(&error))),
            }
        }
    }
}
