use std::sync::Arc;

use super::{request::Request, site::Site};
use crate::articles::{Length, Order, generate};

/// What one case delivers: an article about a job of its own.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) site: Arc<Site>,
    pub(super) job_id: String,
    pub(super) seed: u64,
}

impl Sample {
    /// The delivery as the service sends it.
    pub(super) fn delivery(&self) -> Request {
        self.delivery_of(self.article(Length::Words(500)))
    }

    /// The same around another body.
    pub(super) fn delivery_of(&self, body: impl Into<Vec<u8>>) -> Request {
        let site = &self.site;
        Request::post(&site.path, body.into())
            .with("Host", &site.authority())
            .with("User-Agent", "article-simulator")
            .with("Authorization", &site.token)
            .with("Content-Type", "application/json")
            .with(&site.event_header, "article.complete")
            .with(&site.job_id_header, &self.job_id)
    }

    /// The same with more fields at the start of the body, each with its comma.
    pub(super) fn with_fields(&self, fields: &str) -> Request {
        let article = self.article(Length::Words(500));
        self.delivery_of([b"{", fields.as_bytes(), &article[1..]].concat())
    }

    /// The same with a body of so many bytes.
    pub(super) fn sized(&self, bytes: usize) -> Request {
        self.delivery_of(self.article(Length::Bytes(bytes)))
    }

    /// The same with nothing in the body but what an article cannot do without, and these fields, each with
    /// a comma in front.
    pub(super) fn small(&self, article: &str, result: &str) -> Request {
        let id = &self.job_id;
        self.delivery_of(format!(
            r#"{{"job_id":"{id}","status":"complete","article":{{"title":"A check","html":"<article><p>A check</p></article>"{article}}}{result}}}"#
        ))
    }

    fn article(&self, length: Length) -> Vec<u8> {
        let order = Order {
            job_id: &self.job_id,
            topic: "A check of the receiver",
            image_base: "http://127.0.0.1/images",
            credits_used: 0,
            length,
        };
        generate(self.seed, &order).into()
    }
}
