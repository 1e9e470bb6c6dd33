//! One request and its response, between hyper and the application's service.

mod dispatcher;
mod error_response;
mod http_service;
mod response_body;

pub(crate) use dispatcher::Dispatcher;
pub(crate) use http_service::HttpService;
