use bytes::Bytes;
use reqwest::Response;

use crate::{
    error::{Error, Kind},
    response::{Length, MAX_SHORT_BODY},
};

/// The most that is reserved for a body before it comes. The declared length may be any.
const RESERVED: usize = 16 << 20;

/// The whole body if it is within the limit, and otherwise its beginning.
pub(super) async fn read_limited(
    mut response: Response,
    limit: usize,
) -> Result<(Bytes, Length), Error> {
    let declared = response.content_length().unwrap_or(0).try_into().unwrap_or(usize::MAX);
    let mut body = Vec::with_capacity(limit.min(RESERVED).min(declared));
    while let Some(chunk) = response.chunk().await.map_err(transport_error)? {
        let room = limit - body.len();
        if chunk.len() > room {
            body.extend_from_slice(&chunk[..room]);
            body.truncate(MAX_SHORT_BODY);
            return Ok((body.into_boxed_slice().into(), Length::OverLimit(limit)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body.into_boxed_slice().into(), Length::Whole))
}

/// The first part of an error response. An error while reading does not matter: the status counts.
pub(super) async fn read_start(mut response: Response) -> Bytes {
    let mut start = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        start.extend_from_slice(&chunk);
        if start.len() >= MAX_SHORT_BODY {
            start.truncate(MAX_SHORT_BODY);
            break;
        }
    }
    start.into_boxed_slice().into()
}

pub(super) fn transport_error(error: reqwest::Error) -> Error {
    let error = error.without_url();
    if error.is_connect() {
        Error::unreachable(error)
    } else if error.is_timeout() {
        Error::new(Kind::TimedOut(error.into()))
    } else {
        Error::unanswered(error)
    }
}
