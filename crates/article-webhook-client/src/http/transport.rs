use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::{Method, header::CONTENT_TYPE};
use url::Url;

use super::{
    client::Client,
    read::{read_limited, read_start, transport_error},
};
use crate::{
    error::Error,
    response::{MAX_SHORT_BODY, RawResponse},
};

impl Client {
    /// One attempt at a call, which may take as long as is `left`: the only place that sends a request.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        body: Option<Bytes>,
        left: Duration,
    ) -> Result<RawResponse, Error> {
        let may_be_long = body.is_none();
        let mut request = self.0.http.request(method, url).timeout(self.0.timeout.min(left));
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(transport_error)?;
        let status = response.status();
        let raw = RawResponse::new(status, response.headers(), Bytes::new(), SystemTime::now());
        if !status.is_success() {
            return Ok(RawResponse { body: read_start(response).await, ..raw });
        }
        let limit = self.0.body_limit;
        let limit = if may_be_long { limit } else { limit.min(MAX_SHORT_BODY) };
        let (body, length) = read_limited(response, limit).await?;
        Ok(RawResponse { body, length, ..raw })
    }
}
