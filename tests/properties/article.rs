//! The typed article: what is written down is read, and what was read can be written down again.

mod draft;
mod pen;

use article_webhook::{ArticleResult, DecodeError, SocialPost};

use super::json;
use draft::Draft;

/// The ways between a body and its article.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// From a body to the article.
    pub decode: fn(&[u8]) -> Result<ArticleResult, DecodeError>,
    /// And back.
    pub encode: fn(&ArticleResult) -> Vec<u8>,
}

impl Subject {
    /// The core as it is.
    pub const CORE: Self = Self {
        decode: ArticleResult::from_json,
        encode: |result| serde_json::to_vec(result).expect("a result is JSON"),
    };
}

/// Holds the core to an article.
///
/// # Panics
///
/// If the property is broken.
pub fn check(data: &[u8]) {
    hold(data, &Subject::CORE);
}

/// Holds a subject to an article: the bytes are its body if they begin with a brace, and else
/// choose one that is legal.
///
/// # Panics
///
/// If the property is broken.
pub fn hold(data: &[u8], subject: &Subject) {
    if data.starts_with(b"{") {
        if let Ok(result) = (subject.decode)(data) {
            written_and_read_again(&result, subject);
        }
        return;
    }
    let (draft, body) = Draft::choose(data);
    let result =
        (subject.decode)(body.as_bytes()).unwrap_or_else(|error| panic!("{error}: {body}"));
    assert_eq!(draft.job_id, result.job_id.as_str());
    assert_eq!(draft.title, result.article.title);
    assert_eq!(draft.html, result.article.html.as_untrusted_str());
    assert_eq!(draft.meta_title, result.article.meta_title);
    assert_eq!(draft.meta_description, result.article.meta_description);
    assert_eq!(draft.eeat_score.map(float), result.article.eeat_score);
    assert_eq!(draft.word_count.map(i64::unsigned_abs), result.article.word_count);
    assert_eq!(draft.credits_used.map(float), result.credits_used);
    let image = result.featured_image.as_ref();
    assert_eq!(draft.url, image.and_then(|image| image.url.clone()));
    assert_eq!(draft.alt_text, image.and_then(|image| image.alt_text.clone()));
    assert_eq!(draft.linkedin, posts(&result.social_posts.linkedin));
    assert_eq!(draft.x, posts(&result.social_posts.x));
    written_and_read_again(&result, subject);
}

/// Every number of a draft is one that a float holds.
fn float(number: i64) -> f64 {
    number as f64
}

fn posts(posts: &[SocialPost]) -> Vec<String> {
    posts.iter().map(|post| post.text().expect("every post of a draft has a text").into()).collect()
}

fn written_and_read_again(result: &ArticleResult, subject: &Subject) {
    if !json::keeps_its_numbers(result) {
        return;
    }
    let written = (subject.encode)(result);
    let again = (subject.decode)(&written).expect("what was written can be read");
    assert_eq!(*result, again);
    assert_eq!(written, (subject.encode)(&again), "writing is not stable");
}
