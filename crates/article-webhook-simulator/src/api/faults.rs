use bytes::Bytes;
use http::Response;

use crate::{
    Fault,
    response::{ApiError, delayed, response_of_type},
};

/// The response to a call that a fault prevents; `None` if no fault does.
pub(super) fn response_instead(faults: &[Fault]) -> Option<Response<Bytes>> {
    faults.iter().find_map(|fault| match fault {
        Fault::ApiStatus(status) => {
            // HTML, as a proxy in front of the service sends it.
            let body = "<h1>the service is out of order</h1>";
            Some(response_of_type(*status, "text/html", body.into()))
        }
        Fault::ApiRateLimited(wait) => Some(ApiError::RateLimitExceeded { wait: *wait }.into()),
        _ => None,
    })
}

/// The response to a call that was carried out, with its faults.
pub(super) fn with_faults(response: Response<Bytes>, faults: &[Fault]) -> Response<Bytes> {
    faults.iter().fold(response, |mut response, fault| match fault {
        Fault::ApiMalformed => {
            let body = response.body_mut();
            body.truncate(body.len() / 2);
            response
        }
        Fault::ApiLatency(latency) => delayed(response, *latency),
        _ => response,
    })
}
