use std::{pin::Pin, time::SystemTime};

use actix_web::{
    FromRequest, HttpRequest, dev::Payload, http::header::HeaderMap, rt::time::timeout, web::Data,
};
use article_webhook::{ArticleResult, Drain, Envelope, Headers, Intake, Receiver};
use futures_util::StreamExt;

use crate::Refused;

type Extracting<T> = Pin<Box<dyn Future<Output = Result<T, Refused>>>>;

/// The article of a delivery, as an extractor: the handler runs for an authentic, complete article
/// and for nothing else.
///
/// The [`Receiver`] comes from `app_data`, plain or in `web::Data`; forgotten, it makes every
/// request a 500 that names the fix. What the handler returns drives the service's retries: `Ok`
/// ends the matter, [`Retry`](crate::Retry) asks for another attempt. Work that must survive a crash
/// belongs behind a [`Sink`](crate::Sink) and [`receive`](crate::receive()).
///
/// Do not extract `Option<ArticleComplete>`: it turns a forged delivery into `None`.
///
/// ```
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{ArticleComplete, AuthToken, Receiver, Retry};
///
/// async fn on_article(ArticleComplete(result): ArticleComplete) -> Result<(), Retry> {
///     println!("received {:?}: {:?}", result.job_id, result.article.title);
///     Ok(())
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app = App::new()
///     .app_data(receiver)
///     .service(web::resource("/webhooks/articles").route(web::post().to(on_article)));
/// # use article_webhook_actix_web::{fixture::{Post, Spoil}, test_request};
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |post: Post| {
/// #     let request = test_request(&post, "/webhooks/articles");
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
/// assert_eq!(send(Post::complete()).await.status(), 204);
/// assert_eq!(send(Post::complete().spoiled(Spoil::WrongToken)).await.status(), 401);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArticleComplete(pub ArticleResult);

impl FromRequest for ArticleComplete {
    type Error = Refused;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        extract(request, payload, |intake| intake.article().map(Self))
    }
}

/// A delivery as it came, as an extractor: authentic and well-formed, of whatever event. Holds the
/// core's [`Delivery`](article_webhook::Delivery).
///
/// For handlers that want the exact bytes, or events that this version does not know.
///
/// ```
/// use article_webhook_actix_web::{Delivery, Retry};
///
/// async fn on_delivery(Delivery(delivery): Delivery) -> Result<(), Retry> {
///     println!("{} for {}: {} bytes", delivery.event(), delivery.target(), delivery.body().len());
///     Ok(())
/// }
/// # use actix_web::{App, web};
/// # use article_webhook_actix_web::{fixture::{self, Post, Spoil}, test_request};
/// # let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_delivery));
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |post: Post| {
/// #     let request = test_request(&post, "/");
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
/// assert_eq!(send(Post::complete().spoiled(Spoil::UnknownEvent)).await.status(), 204);
/// assert_eq!(send(Post::complete().spoiled(Spoil::JobIdMismatch)).await.status(), 422);
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct Delivery(pub article_webhook::Delivery);

impl FromRequest for Delivery {
    type Error = Refused;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        extract(request, payload, |intake| intake.read().map(Self))
    }
}

fn extract<T: 'static>(
    request: &HttpRequest,
    payload: &mut Payload,
    read: fn(Intake) -> Result<T, article_webhook::Refused>,
) -> Extracting<T> {
    let data = || request.app_data::<Data<Receiver>>().map(Data::get_ref);
    let Some(receiver) = request.app_data::<Receiver>().or_else(data).cloned() else {
        return Box::pin(std::future::ready(Err(Refused::no_receiver())));
    };
    let opened = receiver.open(&Map(request.headers()));
    let payload = payload.take();
    Box::pin(async move {
        let (taken, payload) = take(&receiver, opened, payload, read).await;
        taken.map_err(|refused| Refused::new(refused, payload))
    })
}

/// actix-web's headers, as the core reads them.
pub(crate) struct Map<'a>(pub(crate) &'a HeaderMap);

impl Headers for Map<'_> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).map(|value| value.as_bytes())
    }
}

/// Takes the body of an opened envelope in, or deals with that of a refused request.
///
/// The payload is given back because the answer to a refusal must own what was not read of it: see
/// [`Unread`](crate::answer::Unread).
pub(crate) async fn take<T>(
    receiver: &Receiver,
    opened: Result<Envelope, article_webhook::Refused>,
    mut payload: Payload,
    read: impl FnOnce(Intake) -> Result<T, article_webhook::Refused>,
) -> (Result<T, article_webhook::Refused>, Payload) {
    let taken = match opened {
        Ok(envelope) => fill(envelope.intake(), &mut payload).await.and_then(read),
        Err(refused) => Err(drain(refused, &mut payload).await),
    };
    let taken = taken.inspect_err(|refused| receiver.log_refusal(refused, SystemTime::now()));
    (taken, payload)
}

async fn fill(
    mut intake: Intake,
    payload: &mut Payload,
) -> Result<Intake, article_webhook::Refused> {
    while let Some(chunk) = payload.next().await {
        match chunk {
            Ok(chunk) => intake.push(chunk)?,
            Err(_) => return Err(intake.broken()),
        }
    }
    Ok(intake)
}

/// Drains as much of the body as the core allows, so that the sender sees the answer.
async fn drain(
    refused: article_webhook::Refused,
    payload: &mut Payload,
) -> article_webhook::Refused {
    let Some(mut drain) = refused.drain() else {
        return refused;
    };
    let to_the_end = async {
        while let Some(chunk) = payload.next().await {
            match chunk {
                Ok(chunk) if drain.take(chunk.len()) => {}
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
