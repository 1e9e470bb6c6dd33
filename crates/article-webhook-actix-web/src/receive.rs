use std::{pin::Pin, sync::Arc};

use actix_web::{HttpRequest, HttpResponse, dev::Payload, rt, web};
use article_webhook::{Envelope, Intake, Receiver, Sink};

use crate::{
    answer::response,
    extract::{Map, carry},
};

type Answering = Pin<Box<dyn Future<Output = HttpResponse>>>;

/// Mounts a sink: the result is a handler that answers every request to the route.
///
/// The sink runs in a task of its own. A sender that hangs up cannot cut its work in half; a panic
/// becomes 500; after [`sink_deadline`](Receiver::sink_deadline) the service is told to come again
/// while the work goes on. Refused deliveries that were authentic are reported to the sink.
///
/// Mount it on a resource with `to`, and other methods get this receiver's 405 as well.
///
/// ```
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{AuthToken, Receiver, Reply, article_webhook::Delivery, receive};
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("storing {} bytes of {}", delivery.body().len(), delivery.job_id());
///     Reply::Stored // say so only after the commit
/// }
///
/// let receiver = Receiver::new(AuthToken::new("Bearer fixture-5f2b9c0e7a1d4e38")?);
/// let app = App::new().service(web::resource("/webhooks/articles").to(receive(receiver, store)));
/// # use article_webhook_actix_web::{fixture::{Post, Spoil}, test_request};
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |post: Post| {
/// #     let request = test_request(&post, "/webhooks/articles");
/// #     actix_web::test::call_service(&app, request.to_request()).await
/// # };
/// assert_eq!(send(Post::complete()).await.status(), 200);
/// assert_eq!(send(Post::complete().spoiled(Spoil::NoToken)).await.status(), 401);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn receive<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
) -> impl Fn(HttpRequest, web::Payload) -> Answering + Clone + Send + 'static {
    mount(receiver, sink, |receiver, request| {
        receiver.open_request(request.method().as_str(), &Map(request.headers()))
    })
}

/// Mounts a sink behind capability URLs: the last segment of the path is the secret, and
/// `Authorization` is ignored. Otherwise as [`receive`]. The path is a secret until it expires: keep it
/// out of access logs.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use actix_web::{App, web};
/// use article_webhook_actix_web::{
///     AuthToken, CapabilityKey, Receiver, Reply, article_webhook::Delivery, receive_capability,
/// };
///
/// async fn store(delivery: Delivery) -> Reply {
///     println!("{:?} is fulfilled by {}", delivery.intent(), delivery.job_id());
///     Reply::Stored
/// }
///
/// let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?;
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let app = App::new().service(
///     web::resource("/webhooks/orders/{capability}").to(receive_capability(receiver, key.clone(), store)),
/// );
/// # use article_webhook_actix_web::{fixture::Post, test_request};
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let send = async |path: &str| {
/// #     let request = test_request(&Post::complete(), path);
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
) -> impl Fn(HttpRequest, web::Payload) -> Answering + Clone + Send + 'static {
    mount(receiver, sink, move |receiver, request| {
        let now = std::time::SystemTime::now();
        let (method, path) = (request.method().as_str(), request.path());
        receiver.open_capability_request(&key, method, path, now, &Map(request.headers()))
    })
}

fn mount<S: Sink + 'static>(
    receiver: Receiver,
    sink: S,
    open: impl Fn(&Receiver, &HttpRequest) -> Result<Envelope, article_webhook::Refused>
    + Clone
    + Send
    + 'static,
) -> impl Fn(HttpRequest, web::Payload) -> Answering + Clone + Send + 'static {
    let sink = Arc::new(sink);
    move |request, payload| {
        let (receiver, sink) = (receiver.clone(), Arc::clone(&sink));
        let opened = open(&receiver, &request);
        Box::pin(async move {
            match carry(&receiver, opened, payload.into_inner(), Intake::read).await {
                (Ok(delivery), _) => {
                    let job_id = delivery.job_id().clone();
                    // Dropping this future, as actix-web does when the sender resets, leaves the task running.
                    let task = rt::spawn(async move { sink.accept(delivery).await });
                    let answer = receiver.wait(&job_id, task, rt::time::sleep).await;
                    response(answer, Payload::None)
                }
                (Err(refused), unread) => {
                    refused.report_to(&sink);
                    response(refused.answer(), unread)
                }
            }
        })
    }
}
