use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use article_webhook_server as server;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header, uri::Authority};
use http_body::Body;
use http_body_util::{BodyExt, Full, Limited};
use tokio::time::timeout;
use tower_service::Service;

use super::engine::Engine;
use crate::{api::unreadable_body, deliveries::is_loopback};

/// The limit for bodies of calls. The document defines none; this one is far above any order.
const MAX_BODY: usize = 1 << 20;

/// How long such a body may take to arrive. The server waits for a body without end.
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// The API as a tower service for the server.
#[derive(Debug, Clone)]
pub(crate) struct HttpService(pub(crate) Arc<Engine>);

impl Service<Request<server::ServerBody>> for HttpService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<server::ServerBody>) -> Self::Future {
        let engine = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            if !is_of_this_machine(&head.headers) {
                return Ok(another_host());
            }
            let response = match whole(body).await {
                Some(body) => engine.call(&Request::from_parts(head, body)).await,
                None => unreadable_body(),
            };
            Ok(response.map(Full::new))
        })
    }
}

/// Whether `Host` is a name of this machine. A page of another origin may have had its own name resolved to this machine.
fn is_of_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()?.parse().ok());
    host.is_some_and(|host: Authority| is_loopback(host.host()))
}

fn another_host() -> Response<Full<Bytes>> {
    let text =
        "the simulated service answers this machine alone: call it by localhost or 127.0.0.1\n";
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    response
}

/// `None` if the body ends early, is too large or is late.
async fn whole(body: impl Body<Data = Bytes, Error = std::io::Error>) -> Option<Bytes> {
    let body = Limited::new(body, MAX_BODY).collect();
    Some(timeout(BODY_DEADLINE, body).await.ok()?.ok()?.to_bytes())
}
