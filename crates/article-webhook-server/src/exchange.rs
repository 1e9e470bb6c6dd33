use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use http::{Request, Response, Version, header};
use http_body_util::{Either, Full};
use hyper::body::{Body as _, Incoming};
use tokio::time::Instant;
use tower_service::Service;

use crate::{
    answer::{Answer, closing},
    app::{App, BoxError},
    body::Body,
    budget::{Budget, Tab},
    limits::Limits,
    response::Outgoing,
    seat::{GaveWay, Seat},
};

/// Carries the requests of one connection to the service, and its answers back.
pub(crate) struct Exchange<S> {
    pub(crate) service: S,
    pub(crate) seat: Arc<Seat>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) limits: Limits,
}

/// The service is cloned and never pinned in place.
impl<S> Unpin for Exchange<S> {}

type Answering<B> = Pin<Box<dyn Future<Output = Result<Response<Outgoing<B>>, BoxError>> + Send>>;

impl<S: App> hyper::service::Service<Request<Incoming>> for Exchange<S> {
    type Response = Response<Outgoing<S::Answer>>;
    type Error = BoxError;
    type Future = Answering<S::Answer>;

    fn call(&self, request: Request<Incoming>) -> Answering<S::Answer> {
        let service = catch_unwind(AssertUnwindSafe(|| self.service.clone()));
        let seat = self.seat.clone();
        let tab = Tab::new(self.budget.clone());
        let deadline = Instant::now() + self.limits.body_deadline;
        Box::pin(async move {
            let has_body = !request.body().is_end_stream();
            // Only hyper hears of this, and drops the connection, which is to go anyway.
            seat.head(has_body).map_err(|GaveWay| "the connection gave way to another")?;
            let sound = has_sound_host(&request);
            let request = request.map(|body| Body::new(body, deadline, tab.clone(), seat.clone()));
            let answered = if sound {
                let answered = match service {
                    Ok(service) => answer(service, request).await,
                    Err(_panic) => None,
                };
                answered.ok_or(Answer::Internal)
            } else {
                drop(request);
                Err(Answer::Host)
            };
            let mut response = match answered {
                Ok(response) => response.map(Either::Left),
                Err(answer) => Response::<Full<_>>::from(answer).map(Either::Right),
            };
            if seat.is_body_unread() {
                closing(&mut response);
            }
            // The tab is settled here, unless the service keeps the body.
            drop(tab);
            Ok(response.map(|body| Outgoing::new(body, seat)))
        })
    }
}

/// hyper lets any number of hosts in.
fn has_sound_host(request: &Request<Incoming>) -> bool {
    match request.headers().get_all(header::HOST).iter().count() {
        0 => request.version() < Version::HTTP_11,
        hosts => hosts == 1,
    }
}

/// The service's answer; `None` if it failed or panicked. What it said then is nobody's business.
async fn answer<S: Service<Request<Body>>>(
    mut service: S,
    request: Request<Body>,
) -> Option<S::Response> {
    let mut answering = pin!(async move {
        poll_fn(|context| service.poll_ready(context)).await.ok()?;
        service.call(request).await.ok()
    });
    // Nothing of the service is used again after a panic: the next request gets a clone of its own.
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
        polled.unwrap_or(Poll::Ready(None))
    })
    .await
}
