use bytes::Bytes;
use http::{HeaderMap, Response, header};
use serde_json::{Map, Value};

use crate::response::ApiError;

/// The body of a call: one JSON object with the content type of JSON (service document, section 4).
pub(super) fn object(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mime = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    if !mime.trim().eq_ignore_ascii_case("application/json") {
        return Err(invalid("Content-Type", "application/json"));
    }
    serde_json::from_slice(body).map_err(|_| invalid("the body", "one JSON object"))
}

pub(super) fn invalid(field: &'static str, expected: &'static str) -> ApiError {
    ApiError::InvalidRequest { field, expected }
}

/// The response to a call whose body is incomplete, late or too large.
pub(crate) fn unreadable_body() -> Response<Bytes> {
    invalid("the body", "complete within 30 s, and at most 1 MiB").into()
}

/// A field that is not `null`.
pub(super) fn present<'a>(body: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    body.get(field).filter(|value| !value.is_null())
}

pub(super) fn text(
    body: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<Option<String>, ApiError> {
    let text = present(body, field).map(|value| value.as_str().ok_or(invalid(field, expected)));
    Ok(text.transpose()?.map(str::to_owned))
}

pub(super) fn required(
    body: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<String, ApiError> {
    let text = text(body, field, expected)?;
    text.filter(|text| !text.trim().is_empty()).ok_or(invalid(field, expected))
}
