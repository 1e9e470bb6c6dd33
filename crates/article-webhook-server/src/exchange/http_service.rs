use std::error::Error;

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use crate::ServerBody;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The bounds that `Server::serve` puts on a service, under one name.
pub(crate) trait HttpService:
    Service<Request<ServerBody>, Response = Response<Self::ResponseBody>, Future: Send>
    + Clone
    + Send
    + 'static
{
    type ResponseBody: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
}

impl<S, B> HttpService for S
where
    S: Service<Request<ServerBody>, Response = Response<B>, Future: Send> + Clone + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type ResponseBody = B;
}
