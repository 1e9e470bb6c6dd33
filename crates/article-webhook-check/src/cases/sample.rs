use std::sync::Arc;

use super::article::{TITLE, USUAL_BYTES, result};
use crate::{endpoint::Endpoint, http::Request};

/// With this the job id of every article of a check begins, so that a handler can leave these articles out:
///
/// ```
/// # let job_id = "check-1";
/// if job_id.starts_with(article_webhook_check::JOB_ID_PREFIX) {
///     return; // an article of a check, not of the service
/// }
/// ```
pub const JOB_ID_PREFIX: &str = "check-";

/// What one case delivers: an article about a job of its own.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) job_id: String,
}

impl Sample {
    /// The delivery as the service sends it.
    pub(super) fn delivery(&self) -> Request {
        self.delivery_of(result(&self.job_id, USUAL_BYTES))
    }

    /// The headers of a delivery with another body.
    pub(super) fn delivery_of(&self, body: impl Into<Vec<u8>>) -> Request {
        let endpoint = &self.endpoint;
        Request::post(&endpoint.path, body.into())
            .with("Host", &endpoint.authority())
            .with("User-Agent", "article-webhook-check")
            .with("Authorization", &endpoint.token)
            .with("Content-Type", "application/json")
            .with(&endpoint.event_header, "article.complete")
            .with(&endpoint.job_id_header, &self.job_id)
    }

    /// The delivery with further fields at the start of its body. Each field ends with a comma.
    pub(super) fn with_fields(&self, fields: impl AsRef<[u8]>) -> Request {
        let article = result(&self.job_id, USUAL_BYTES);
        self.delivery_of([b"{", fields.as_ref(), &article[1..]].concat())
    }

    /// The delivery with an article of about this many bytes.
    pub(super) fn sized(&self, bytes: usize) -> Request {
        self.delivery_of(result(&self.job_id, bytes))
    }

    /// A delivery with the required fields and these: `article` inside the article, `result` beside it. Each
    /// field begins with a comma.
    pub(super) fn minimal_with(&self, article: &str, result: &str) -> Request {
        let id = &self.job_id;
        self.delivery_of(format!(
            r#"{{"job_id":"{id}","status":"complete","article":{{"title":"{TITLE}","html":"<article><p>A check</p></article>"{article}}}{result}}}"#
        ))
    }
}
