use std::time::SystemTime;

use article_webhook::{ArticleResult, Drain, Envelope, Intake, Receiver};
use axum_core::{
    body::Body,
    extract::{FromRef, FromRequest, Request},
};
use http_body_util::BodyExt;
use tokio::time::timeout;

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
        let article = take(&receiver, opened, request.into_body(), Intake::article).await;
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
        let delivery = take(&receiver, opened, request.into_body(), Intake::read).await;
        delivery.map(Self).map_err(Refused)
    }
}

/// Takes the body of an opened envelope in, or deals with that of a refused request.
pub(crate) async fn take<T>(
    receiver: &Receiver,
    opened: Result<Envelope, article_webhook::Refused>,
    mut body: Body,
    read: impl FnOnce(Intake) -> Result<T, article_webhook::Refused>,
) -> Result<T, article_webhook::Refused> {
    let taken = match opened {
        Ok(envelope) => fill(envelope.intake(), &mut body).await.and_then(read),
        Err(refused) => Err(drain(refused, &mut body).await),
    };
    taken.inspect_err(|refused| receiver.log_refusal(refused, SystemTime::now()))
}

async fn fill(mut intake: Intake, body: &mut Body) -> Result<Intake, article_webhook::Refused> {
    while let Some(frame) = body.frame().await {
        match frame.map(|frame| frame.into_data()) {
            Ok(Ok(chunk)) => intake.push(chunk)?,
            Ok(Err(_trailers)) => {}
            Err(_) => return Err(intake.broken()),
        }
    }
    Ok(intake)
}

/// Drains as much of the body as the core allows, so that the sender sees the answer.
async fn drain(refused: article_webhook::Refused, body: &mut Body) -> article_webhook::Refused {
    let Some(mut drain) = refused.drain() else {
        return refused;
    };
    let to_the_end = async {
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) if frame.data_ref().is_none_or(|chunk| drain.take(chunk.len())) => {}
                _ => return false,
            }
        }
        true
    };
    match timeout(Drain::WITHIN, to_the_end).await {
        Ok(true) => refused.drained(),
        _ => refused,
    }
}
