use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response<Bytes> {
    response_of_type(status, "application/json", body.to_string().into())
}

pub(crate) fn response_of_type(
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
