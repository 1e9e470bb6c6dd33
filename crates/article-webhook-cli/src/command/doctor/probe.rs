//! Deliveries that every receiver refuses, whichever of their headers arrive. None is an article, and none names a job that
//! an inbox could expect.

use std::time::{Duration, Instant, SystemTime};

use article_webhook::fixture::DeliveryRequest;
use reqwest::{
    StatusCode, Url,
    header::{CONTENT_TYPE, DATE},
};
use serde::Deserialize;

use super::clock::Reading;
use crate::{
    calls::{Deliverer, beginning},
    failure::Failure,
};

/// The largest body that a receiver takes by default.
pub(super) const LARGEST: usize = 8 << 20;

/// More of an answer is not read.
const SHOWN: usize = 64 << 10;

/// No receiver accepts this token.
const WRONG_TOKEN: &str = "Bearer wrong-token-of-article-webhook-doctor";

/// No valid job id: a receiver refuses it by the headers alone.
const NO_JOB_ID: &str = "..";

/// No valid event, for the same reason: it has a space.
const NO_EVENT: &str = "no event";

/// The beginning of a JSON object without its end.
const CUT: &[u8] = b"{";

/// Sends refused deliveries to one receiver.
pub(super) struct Prober<'a> {
    pub(super) url: &'a Url,
    pub(super) event_header: &'a str,
    pub(super) job_id_header: &'a str,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The code of a refusal, as receivers of this project write it.
    pub(super) code: Option<String>,
    /// Whether the answer is a page for people, as proxies have them.
    pub(super) is_page: bool,
    pub(super) took: Duration,
    pub(super) clock: Option<Reading>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// Why there is no answer, or why nothing could be sent.
pub(super) enum NoAnswer {
    Setup(Failure),
    Http(reqwest::Error),
}

impl Prober<'_> {
    /// With a token that is wrong.
    pub(super) fn wrong_token() -> DeliveryRequest {
        request(CUT, WRONG_TOKEN)
    }

    /// With the right token and an invalid job id. If its header does not arrive, the cut body is refused.
    pub(super) fn invalid_job_id(&self, token: &str) -> DeliveryRequest {
        let request = request(CUT, token).header(self.event_header, "article.complete");
        request.header(self.job_id_header, NO_JOB_ID)
    }

    /// With the right token and an invalid event. If its header does not arrive, the invalid job id is refused.
    pub(super) fn invalid_event(&self, token: &str) -> DeliveryRequest {
        let request = request(CUT, token).header(self.event_header, NO_EVENT);
        request.header(self.job_id_header, NO_JOB_ID)
    }

    /// With the right token and the largest body, which is cut.
    pub(super) fn largest_body(&self, token: &str) -> DeliveryRequest {
        let mut body = CUT.to_vec();
        body.resize(LARGEST, b' ');
        request(body, token).header(self.event_header, "article.complete")
    }

    pub(super) async fn send(
        &self,
        request: &DeliveryRequest,
        timeout: Duration,
    ) -> Result<Answer, NoAnswer> {
        let deliverer = Deliverer::new(timeout).map_err(NoAnswer::Setup)?;
        let (sent, start) = (SystemTime::now(), Instant::now());
        let response = deliverer.attempt(self.url, request).await.map_err(NoAnswer::Http)?;
        let (took, status) = (start.elapsed(), response.status());
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let date = header(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
        let clock = date.map(|shown| Reading::new("the receiver", sent, shown));
        let kind = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let body = beginning(response, SHOWN).await;
        let code = serde_json::from_slice(&body).ok().map(|Refusal { error }| error);
        let is_page = kind.starts_with("text/html") || body.trim_ascii_start().starts_with(b"<");
        Ok(Answer { status, code, is_page, took, clock })
    }
}

fn request(body: impl Into<bytes::Bytes>, token: &str) -> DeliveryRequest {
    let request = DeliveryRequest::new(body).token(token);
    request.without_header("X-Service-Event").without_header("X-Service-Job-Id")
}
