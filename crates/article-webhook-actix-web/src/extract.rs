use std::{pin::Pin, time::SystemTime};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::HeaderMap,
    rt::time::sleep,
    web::{Bytes, Data},
};
use article_webhook::{ArticleResult, Broken, Chunks, Envelope, Headers, Intake, Receiver};
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
/// Do not extract `Option<ArticleComplete>`: it turns a forged delivery into `None`, and drops with the
/// refusal what makes actix-web close the connection of a stranger who never ends the body.
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
        let (carried, payload) = carry(&receiver, opened, payload, read).await;
        carried.map_err(|refused| Refused::new(refused, payload))
    })
}

/// actix-web's headers, as the core reads them.
pub(crate) struct Map<'a>(pub(crate) &'a HeaderMap);

impl Headers for Map<'_> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).map(|value| value.as_bytes())
    }
}

/// Lets the core take the body in, or drain it, and gives back the payload: the answer to a refusal
/// must own what was not read of it, see [`Unread`](crate::answer::Unread).
pub(crate) async fn carry<T>(
    receiver: &Receiver,
    opened: Result<Envelope, article_webhook::Refused>,
    payload: Payload,
    read: impl FnOnce(Intake) -> Result<T, article_webhook::Refused>,
) -> (Result<T, article_webhook::Refused>, Payload) {
    let mut stream = Stream(payload);
    let carried = receiver.carry(opened, &mut stream, sleep, SystemTime::now(), read).await;
    (carried, stream.0)
}

struct Stream(Payload);

impl Chunks for Stream {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        let chunk = self.0.next().await?;
        Some(chunk.map_err(|error| Broken::of(&error)))
    }
}
