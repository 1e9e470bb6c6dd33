use std::error::Error;

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use crate::Body;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// What `Server::serve` asks of a service, under one name.
pub(crate) trait App:
    Service<Request<Body>, Response = Response<Self::Answer>, Future: Send> + Clone + Send + 'static
{
    type Answer: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
}

impl<S, B> App for S
where
    S: Service<Request<Body>, Response = Response<B>, Future: Send> + Clone + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Answer = B;
}
