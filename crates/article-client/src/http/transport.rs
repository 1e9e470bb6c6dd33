use std::time::Duration;

use bytes::Bytes;
use reqwest::{Method, header::CONTENT_TYPE};
use url::Url;

use super::{
    client::Client,
    response::{read_limited, read_start, refusal, retry_after, transport_error},
};
use crate::error::{Error, Kind};

/// The limit for a response without an article, in bytes.
pub(crate) const MAX_SHORT_BODY: usize = 1 << 20;

impl Client {
    /// One attempt at a call, which may take as long as is `left`. Returns the body of a successful response.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        body: Option<Bytes>,
        left: Duration,
    ) -> Result<Bytes, Error> {
        let may_be_long = body.is_none();
        let mut request = self.0.http.request(method, url).timeout(self.0.timeout.min(left));
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(transport_error)?;
        let status = response.status();
        let retry_after = retry_after(&response);
        if status.is_redirection() {
            return Err(Error::new(Kind::Redirect { status: status.as_u16() }));
        }
        if !status.is_success() {
            let start = read_start(response).await;
            return Err(refusal(&self.0.key, status, retry_after, &start));
        }
        let limit = self.0.body_limit;
        read_limited(response, if may_be_long { limit } else { limit.min(MAX_SHORT_BODY) }).await
    }
}
