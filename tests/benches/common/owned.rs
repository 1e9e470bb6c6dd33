//! The baseline: what an application would write that trusts its sender.

#![expect(
    dead_code,
    reason = "the fields are there to be filled, as an application would have them filled"
)]

use serde::Deserialize;
use serde_json::Value;

/// The service's result as owned, derived structs, which check nothing but their types.
#[derive(Deserialize)]
pub(crate) struct OwnedResult {
    job_id: String,
    status: String,
    article: OwnedArticle,
    featured_image: Option<OwnedImage>,
    social_posts: Option<OwnedPosts>,
    credits_used: Option<u64>,
}

#[derive(Deserialize)]
struct OwnedArticle {
    title: String,
    html: String,
    meta_title: Option<String>,
    meta_description: Option<String>,
    eeat_score: Option<f64>,
    word_count: Option<u64>,
}

#[derive(Deserialize)]
struct OwnedImage {
    url: Option<String>,
    alt_text: Option<String>,
}

#[derive(Deserialize)]
struct OwnedPosts {
    linkedin: Vec<Value>,
    x: Vec<Value>,
}

/// The baseline itself.
pub(crate) fn from_slice(body: &[u8]) -> OwnedResult {
    serde_json::from_slice(body).expect("a fixture is well-formed")
}
