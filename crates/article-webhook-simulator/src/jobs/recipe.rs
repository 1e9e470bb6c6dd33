use std::sync::Arc;

use bytes::Bytes;

use crate::articles::{self, ArticleSpec, Length};

/// What a result is generated from. The result is not stored but generated again at each use, with the same bytes, so
/// that a million finished jobs fit into memory.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    pub(crate) job_id: String,
    pub(crate) topic: Arc<str>,
    pub(crate) length: Length,
    pub(crate) credits_used: u64,
    pub(crate) image_base: Arc<str>,
}

impl Recipe {
    /// The response to `GET /v1/content/articles/{job_id}`, and the body of every delivery.
    pub(crate) fn body(&self) -> Bytes {
        let spec = ArticleSpec {
            image_base: &self.image_base,
            credits_used: self.credits_used,
            length: self.length,
            ..ArticleSpec::new(&self.job_id, &self.topic)
        };
        articles::generate(self.seed, &spec)
    }
}
