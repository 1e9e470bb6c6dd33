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

use crate::{service::unreadable, simulator::engine::Engine};

/// The document sets no limit for bodies of calls; this one is generous for a topic and some targets.
const LIMIT: usize = 1 << 20;

/// The service as the server wants it.
#[derive(Debug, Clone)]
pub(crate) struct Front(pub(crate) Arc<Engine>);

impl Service<Request<Body>> for Front {
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
            let response = match Limited::new(body, LIMIT).collect().await {
                Ok(body) => engine.call(&Request::from_parts(head, body.to_bytes())).await,
                Err(_) => unreadable(),
            };
            Ok(response.map(Full::new))
        })
    }
}
