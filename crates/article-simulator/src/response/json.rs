use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use crate::{
    Fault,
    service::{order::refuse, problem::Problem},
};

pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response<Bytes> {
    with_type(status, "application/json", body.to_string().into())
}

pub(crate) fn with_type(
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// To a call whose body breaks off, or is larger than any that makes sense.
pub(crate) fn unreadable() -> Response<Bytes> {
    refuse("the body", "complete, and at most 1 MiB").into()
}

/// How long an answer is held back. It waits outside: the service has no clock.
#[derive(Debug, Clone, Copy)]
struct Latency(Duration);

pub(crate) fn latency(response: &Response<Bytes>) -> Option<Duration> {
    response.extensions().get().map(|Latency(latency)| *latency)
}

/// What is answered without carrying the call out, if a fault says so.
pub(crate) fn instead(faults: &[Fault]) -> Option<Response<Bytes>> {
    faults.iter().find_map(|fault| match fault {
        Fault::ApiStatus(status) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
            // As what stands in front of a service does it.
            Some(with_type(status, "text/html", "<h1>the service is out of order</h1>".into()))
        }
        Fault::ApiRateLimited(wait) => Some(Problem::RateLimitExceeded { wait: *wait }.into()),
        _ => None,
    })
}

/// What faults do to the answer of a call that was carried out.
pub(crate) fn spoiled(mut response: Response<Bytes>, faults: &[Fault]) -> Response<Bytes> {
    for fault in faults {
        match fault {
            Fault::ApiMalformed => {
                let body = response.body_mut();
                body.truncate(body.len() / 2);
            }
            Fault::ApiLatency(latency) => {
                response.extensions_mut().insert(Latency(*latency));
            }
            _ => {}
        }
    }
    response
}
