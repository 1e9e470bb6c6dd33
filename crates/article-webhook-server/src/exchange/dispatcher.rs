use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use http::{Request, Response, StatusCode, Version, header};
use http_body_util::{Either, Full};
use hyper::body::{Body as _, Incoming};
use tower_service::Service;

use super::{
    error_response::{ErrorResponse, close_after},
    http_service::{BoxError, HttpService},
    response_body::ResponseBody,
};
use crate::{
    body::ServerBody,
    slot::{BodyState, ConnectionSlot},
};

/// Passes the requests of one connection to the service, and its responses to hyper.
pub(crate) struct Dispatcher<S> {
    pub(crate) service: S,
    pub(crate) slot: Arc<ConnectionSlot>,
}

/// The service is cloned and never pinned in place.
impl<S> Unpin for Dispatcher<S> {}

type ResponseFuture<B> =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody<B>>, BoxError>> + Send>>;

impl<S: HttpService> hyper::service::Service<Request<Incoming>> for Dispatcher<S> {
    type Response = Response<ResponseBody<S::ResponseBody>>;
    type Error = BoxError;
    type Future = ResponseFuture<S::ResponseBody>;

    fn call(&self, request: Request<Incoming>) -> ResponseFuture<S::ResponseBody> {
        let service = self.service.clone();
        let slot = self.slot.clone();
        Box::pin(async move {
            let has_body = !request.body().is_end_stream();
            let body = if has_body { BodyState::Incomplete } else { BodyState::Complete };
            slot.head_received(body);
            let request = request.map(|body| ServerBody::new(body, slot.clone()));
            let result = if !has_valid_host(&request) {
                Err(ErrorResponse::InvalidHost)
            } else if slot.is_unready(request.uri().path()) {
                Err(ErrorResponse::Stopping)
            } else {
                call_catching_panics(service, request).await.ok_or(ErrorResponse::Internal)
            };
            let mut response = match result {
                Ok(response) => response.map(Either::Left),
                Err(error) => Response::<Full<_>>::from(error).map(Either::Right),
            };
            if response.status().is_success() {
                slot.succeeded();
            } else if response.status() >= StatusCode::BAD_REQUEST {
                slot.refused();
            }
            // A full server keeps no connection for the next request: one request after another would hold it. A server that
            // stops would close the connection at a moment at which a proxy may send on it.
            if slot.is_body_unread() || slot.is_last_exchange() {
                close_after(&mut response);
            }
            Ok(response.map(|body| ResponseBody::new(body, slot)))
        })
    }
}

/// Needed because hyper accepts any number of `Host` headers.
fn has_valid_host(request: &Request<ServerBody>) -> bool {
    match request.headers().get_all(header::HOST).iter().count() {
        0 => request.version() < Version::HTTP_11,
        hosts => hosts == 1,
    }
}

/// The response of the service, or `None` if it failed or panicked. Its message is not sent to the peer.
async fn call_catching_panics<S: Service<Request<ServerBody>>>(
    mut service: S,
    request: Request<ServerBody>,
) -> Option<S::Response> {
    let mut call = pin!(async move {
        poll_fn(|context| service.poll_ready(context)).await.ok()?;
        service.call(request).await.ok()
    });
    // This clone of the service is not used after a panic: the next request gets another one.
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        polled.unwrap_or(Poll::Ready(None))
    })
    .await
}
