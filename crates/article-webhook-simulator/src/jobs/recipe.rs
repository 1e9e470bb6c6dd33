use std::sync::Arc;

use article_webhook::fixture;
use bytes::Bytes;

/// About how many bytes of HTML a word takes, with its share of the markup.
pub(crate) const BYTES_PER_WORD: usize = 6;

/// What a result is generated from. The result is not stored but generated again at each use, with the same bytes, so
/// that a million finished jobs fit into memory.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    pub(crate) job_id: String,
    pub(crate) topic: Arc<str>,
    pub(crate) html_bytes: usize,
    pub(crate) credits_used: u64,
    pub(crate) image_base: Arc<str>,
}

impl Recipe {
    /// The response to `GET /v1/content/articles/{job_id}`, and the body of every delivery.
    pub(crate) fn body(&self) -> Bytes {
        let mut result = fixture::generated_result(self.seed, self.topic.trim(), self.html_bytes);
        result.job_id = self.job_id.parse().expect("the simulator's ids are job ids");
        let image = result.featured_image.get_or_insert_default();
        image.url = Some(format!("{}/{}.png", self.image_base, self.seed));
        #[expect(clippy::cast_precision_loss, reason = "a price has fewer than 16 digits")]
        let credits_used = self.credits_used as f64;
        result.credits_used = Some(credits_used);
        serde_json::to_vec(&result).expect("a result can be written as JSON").into()
    }
}
