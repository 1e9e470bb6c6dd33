use std::time::Duration;

use bytes::Bytes;
use http::Response;

/// How long a response is delayed. The service has no clock, so its caller waits.
#[derive(Debug, Clone, Copy)]
struct Delay(Duration);

pub(crate) fn delayed(mut response: Response<Bytes>, by: Duration) -> Response<Bytes> {
    response.extensions_mut().insert(Delay(by));
    response
}

pub(crate) fn delay_of(response: &Response<Bytes>) -> Option<Duration> {
    response.extensions().get().map(|Delay(delay)| *delay)
}
