use std::{pin::Pin, sync::Arc};

use actix_web::{HttpRequest, HttpResponse, rt, web};
use article_webhook::{
    Envelope, Receiver, Refused, Sink,
    adapter::{Intake, dispatch},
};

use crate::{
    body::{PayloadBody, receive_body},
    headers::ActixHeaders,
    response::response,
};

type ResponseFuture = Pin<Box<dyn Future<Output = HttpResponse>>>;

/// Mounts a sink: returns a handler that answers every request to the route.
///
/// The sink runs in a task of its own, so a sender that disconnects cannot stop its work halfway. A panic
/// is answered with 500. After [`answer_deadline`](Receiver::answer_deadline) the answer is 503, and the task
/// continues. Refused deliveries that were authentic are reported to the sink.
///
/// Mount it on a resource with `web::post()`, which answers other methods with 405 and `Allow: POST`. If it gets them, so
/// does this handler. `App::route` answers them with 404.
///
/// ```
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{AuthToken, Delivery, Receiver, Reply, receive};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("storing {} bytes of {}", delivery.body().len(), delivery.job_id());
///     Reply::Stored // return this only after the commit
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app = App::new()
///     .service(web::resource("/webhooks/articles").route(web::post().to(receive(receiver, store))));
/// # use article_webhook_actix_web::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |fixture: DeliveryRequest| {
/// #     let request = fixture.request("/webhooks/articles");
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
/// assert_eq!(send(fixture::complete()).await.status(), 200);
/// assert_eq!(send(fixture::complete().defect(Defect::NoToken)).await.status(), 401);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn receive<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
) -> impl Fn(HttpRequest, web::Payload) -> ResponseFuture + Clone + Send + 'static {
    mount(receiver, sink, |receiver, request| {
        receiver.open_request(request.method().as_str(), &ActixHeaders(request.headers()))
    })
}

/// Mounts a sink behind capability URLs: the last segment of the path is the secret, and `Authorization` is
/// ignored. The rest is the same as for [`receive`]. The path is a secret until it expires: keep it out of
/// access logs.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{
///     AuthToken, CapabilityKey, Delivery, Receiver, Reply, receive_capability,
/// };
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("{:?} is fulfilled by {}", delivery.intent(), delivery.job_id());
///     Reply::Stored
/// }
///
/// let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?;
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let orders = receive_capability(receiver, key.clone(), store);
/// let app = App::new()
///     .service(web::resource("/webhooks/orders/{capability}").route(web::post().to(orders)));
/// # use article_webhook_actix_web::fixture::{self, DeliveryRequestExt};
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |path: &str| {
/// #     let request = fixture::complete().request(path);
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
///
/// let segment = key.mint("order-17", SystemTime::now() + Duration::from_secs(86_400))?;
/// let path = format!("/webhooks/orders/{}", segment.as_str());
/// assert_eq!(send(&path).await.status(), 200);
/// assert_eq!(send("/webhooks/orders/guess").await.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "capability")]
pub fn receive_capability<S: Sink + 'static>(
    receiver: Receiver,
    key: article_webhook::CapabilityKey,
    sink: S,
) -> impl Fn(HttpRequest, web::Payload) -> ResponseFuture + Clone + Send + 'static {
    mount(receiver, sink, move |receiver, request| {
        let now = std::time::SystemTime::now();
        let (method, path) = (request.method().as_str(), request.path());
        receiver.open_capability_request(&key, method, path, now, &ActixHeaders(request.headers()))
    })
}

fn mount<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
    open: impl Fn(&Receiver, &HttpRequest) -> Result<Envelope, Refused> + Clone + Send + 'static,
) -> impl Fn(HttpRequest, web::Payload) -> ResponseFuture + Clone + Send + 'static {
    let sink = Arc::new(sink);
    move |request, payload| {
        let (receiver, sink) = (receiver.clone(), Arc::clone(&sink));
        let opened = open(&receiver, &request);
        let body = PayloadBody(payload.into_inner());
        Box::pin(async move {
            let (received, unread) = receive_body(&receiver, opened, body, Intake::read).await;
            // actix-web drops this future when the sender resets the connection. The task continues.
            let answer = dispatch(&receiver, received, sink, rt::spawn, rt::time::sleep).await;
            response(answer, unread)
        })
    }
}
