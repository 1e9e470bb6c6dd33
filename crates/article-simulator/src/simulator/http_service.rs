use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use article_webhook_server::Body;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use tower_service::Service;

use super::engine::Engine;
use crate::api::unreadable_body;

/// The limit for bodies of calls. The document defines none; this one is far above any order.
const MAX_BODY: usize = 1 << 20;

/// The API as a tower service for the server.
#[derive(Debug, Clone)]
pub(crate) struct HttpService(pub(crate) Arc<Engine>);

impl Service<Request<Body>> for HttpService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let engine = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let response = match Limited::new(body, MAX_BODY).collect().await {
                Ok(body) => engine.call(&Request::from_parts(head, body.to_bytes())).await,
                Err(_) => unreadable_body(),
            };
            Ok(response.map(Full::new))
        })
    }
}
