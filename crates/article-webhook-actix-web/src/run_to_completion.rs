use std::{
    cell::OnceCell,
    future::{Ready, ready},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use actix_web::{
    Error, HttpMessage, HttpRequest,
    body::{EitherBody, MessageBody},
    dev::{Payload, Service, ServiceRequest, ServiceResponse, Transform},
    rt::{
        spawn,
        time::{Instant, sleep},
    },
};
use article_webhook::{
    Delivery, Receiver, StatusCode,
    adapter::{MountId, RunSlot},
};

use crate::{headers::ActixHeaders, response::response};

/// Runs the handler of a delivery to its end, and once at a time for each job. A middleware for the resource of a
/// handler that takes [`ArticleComplete`](crate::ArticleComplete) or [`RawDelivery`](crate::RawDelivery).
///
/// Without it actix-web drops the handler where it waits when the sender resets the connection or a time-out middleware
/// gives the request up, and nothing is logged. A retry of the service runs beside a handler that is still running.
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
/// Handlers keep their extractors. Put the middleware next to the handler: a time-out middleware between the two drops
/// the handler as before. Requests without an accepted delivery pass unchanged. What it knows is in the memory of the process, so
/// the job id is still the key to save an article by. The workers of actix-web share it through the
/// receiver, and end with what they run, so wait for [`Receiver::handlers_ended`] after `ServerHandle::pause`, before
/// `ServerHandle::stop`.
///
/// ```
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{ArticleComplete, AuthToken, Receiver, Retry, RunToCompletion};
///
/// async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> Result<(), Retry> {
///     println!("received {:?}", result.article.title);
///     Ok(())
/// }
///
/// # use actix_web::test::{call_service, init_service, read_body};
/// # use article_webhook_actix_web::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # actix_web::rt::System::new().block_on(async {
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let layer = RunToCompletion::new(receiver.clone());
/// let app = App::new().app_data(receiver).service(
///     web::resource("/webhooks/articles").route(web::post().to(on_article)).wrap(layer),
/// );
/// # let app = init_service(app).await;
/// # let send = async |request: DeliveryRequest| {
/// #     let response = call_service(&app, request.request("/webhooks/articles").to_request()).await;
/// #     (response.status().as_u16(), String::from_utf8_lossy(&read_body(response).await).into_owned())
/// # };
/// assert_eq!(send(fixture::complete()).await, (204, "".into()));
/// assert_eq!(send(fixture::complete()).await, (200, r#"{"status":"duplicate"}"#.into()));
/// assert_eq!(send(fixture::complete().defect(Defect::WrongToken)).await.0, 401);
/// # Ok::<(), article_webhook_actix_web::TokenError>(())
/// # })?;
/// # Ok::<(), article_webhook_actix_web::TokenError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunToCompletion {
    receiver: Receiver,
}

impl RunToCompletion {
    /// A middleware for the handlers that receive with this receiver or a clone of it.
    #[must_use]
    pub fn new(receiver: Receiver) -> Self {
        Self { receiver }
    }
}

impl<S, B> Transform<S, ServiceRequest> for RunToCompletion
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = RunToCompletionMiddleware<S>;
    type InitError = ();
    type Future = Ready<Result<Self::Transform, ()>>;

    fn new_transform(&self, inner: S) -> Self::Future {
        ready(Ok(RunToCompletionMiddleware { receiver: self.receiver.clone(), inner }))
    }
}

/// The service that a [`RunToCompletion`] makes from the inner service. See there.
#[derive(Debug)]
pub struct RunToCompletionMiddleware<S> {
    receiver: Receiver,
    inner: S,
}

impl<S, B> Service<ServiceRequest> for RunToCompletionMiddleware<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>>>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let clock = || Instant::now().into_std();
        let uri = request.uri().path_and_query().map_or("/", |uri| uri.as_str());
        let headers = ActixHeaders(request.headers());
        let slot = RunSlot::new(&self.receiver, MountId::SHARED, &headers, uri, clock);
        let extracted = Rc::<OnceCell<HttpRequest>>::default();
        let place = Place { slot: slot.clone(), extracted: Rc::clone(&extracted) };
        request.extensions_mut().insert(place);
        // actix-web uses http 0.2, which has its own `StatusCode`.
        let status = |result: &Result<ServiceResponse<B>, Error>| {
            let status = result.as_ref().ok()?.status();
            StatusCode::from_u16(status.as_u16()).ok()
        };
        let inner = self.inner.call(request);
        Box::pin(async move {
            // actix-web drops this future when the sender resets the connection. A handler that runs continues.
            match slot.supervise(inner, status, spawn, sleep).await {
                Ok(result) => result.map(ServiceResponse::map_into_left_body),
                Err(answer) => {
                    let request = extracted.get().cloned().expect("a delivery was extracted");
                    let response = response(answer, Payload::None).map_into_right_body();
                    Ok(ServiceResponse::new(request, response))
                }
            }
        })
    }
}

/// What the middleware puts into the request's extensions, and an extractor takes out.
struct Place {
    slot: RunSlot,
    /// The request, to respond to. Before it is routed it must have no second owner.
    extracted: Rc<OnceCell<HttpRequest>>,
}

/// Lets the handler run, if the middleware is mounted, once no other runs for the job.
pub(crate) async fn admit(request: HttpRequest, delivery: &Delivery) {
    // Taken, because the request must not own itself.
    let place = request.extensions_mut().remove::<Place>();
    if let Some(Place { slot, extracted }) = place {
        extracted.get_or_init(|| request);
        slot.admit(delivery).await;
    }
}
