use std::fmt;

use serde::Serialize;

use super::{
    Article, DecodeError, Drift, FeaturedImage, JobId, SocialPosts, Status,
    decode::{decode, decode_with_drift},
};
use crate::json::serialize_number;

/// The result of a finished job: the body of a delivery, and the response of the job status endpoint (service
/// document, section 2.1).
///
/// `job_id`, `article.title` and `article.html` are required. The document does not say which other fields are always
/// present, so each of them may be missing. One with another kind of value is missing too, and so is `null`: no article
/// is refused for what it can do without. Fields that this version does not know are ignored.
/// [`Delivery::drift`](crate::Delivery::drift) names both.
///
/// A body with a title and HTML is an article whatever its `status` is, and a status other than `complete` is drift.
/// Only a failure is none: a status `failed`, `error` or `cancelled`, or an `error` with a code of the document
/// (section 7).
///
/// A body that is JSON but for a byte order mark, lone surrogates, raw control characters or bytes that are not UTF-8 in
/// strings, `NaN` or `Infinity` is decoded after a [repair](crate::Repair), which is drift.
///
/// Decoding takes at most about three times the memory of the body, and a few MiB, whatever the shape of the JSON. A
/// body that must be repaired is copied once more; the worst that can be made of control characters takes seven times.
///
/// `Debug` shows identity and sizes, never content. Serialising produces the service's format. Deserialising follows
/// the rules of [`from_json`](Self::from_json), without the repair: the deserializer has read the JSON already. It needs
/// a format that describes itself, such as JSON or MessagePack.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let result = ArticleResult::from_json(
///     br#"{"job_id": "job_1", "status": "complete", "credits_used": 2.0,
///          "article": {"title": "Hello", "html": "<article>Hi</article>"}}"#,
/// )?;
/// assert_eq!(result.article.title, "Hello");
/// assert_eq!(result.credits_used, Some(2.0));
/// assert!(result.featured_image.is_none());
/// assert_eq!(serde_json::from_str::<ArticleResult>(&serde_json::to_string(&result)?)?, result);
///
/// let result = ArticleResult::from_json(
///     br#"{"job_id": "job_1", "status": "complete", "credits_used": "2", "featured_image": false,
///          "article": {"title": "Hello", "html": "<article>Hi</article>"}}"#,
/// )?;
/// assert_eq!((result.credits_used, result.featured_image), (None, None)); // of another kind than documented
///
/// let error = ArticleResult::from_json(br#"{"job_id": "job_1", "status": "complete"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "article: expected an object, found nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive] // the service may document more fields
pub struct ArticleResult {
    /// The job: use it as the idempotency key for work on the article.
    pub job_id: JobId,
    /// The state of the job as the body names it; [`Status::Complete`] if the body names none.
    pub status: Status,
    /// The article itself.
    pub article: Article,
    /// The image to show with the article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub featured_image: Option<FeaturedImage>,
    /// Posts that announce the article; empty if the service sent none.
    pub social_posts: SocialPosts,
    /// Credits consumed by the job. An integer according to the document, and written as one where it is one; a
    /// fraction or a negative number is kept.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "serialize_number")]
    pub credits_used: Option<f64>,
}

impl ArticleResult {
    /// A complete result with the required fields, for a test or a replay. The others can be set.
    ///
    /// ```
    /// use article_webhook::{ArticleResult, FeaturedImage};
    ///
    /// let mut result = ArticleResult::new("job_1".parse()?, "Hello", "<article>Hi</article>");
    /// result.article.word_count = Some(1);
    /// result.featured_image = Some(FeaturedImage::new("https://cdn.example/hello.png"));
    ///
    /// let body = serde_json::to_vec(&result)?;
    /// assert_eq!(ArticleResult::from_json(&body)?, result);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(job_id: JobId, title: impl Into<String>, html: impl Into<String>) -> Self {
        Self {
            job_id,
            status: Status::Complete,
            article: Article::new(title, html),
            featured_image: None,
            social_posts: SocialPosts::default(),
            credits_used: None,
        }
    }

    /// Decodes the stored body of a delivery, or the response of the job status endpoint for a job that is complete.
    ///
    /// The response for a job that is not complete may hold the beginning of an article. So ask for its `status`
    /// first, as the client crate does.
    ///
    /// # Errors
    ///
    /// A [`DecodeError`] that names the first required field that is missing or not of the documented kind, the
    /// failure that the service reports, or the position at which the JSON is malformed.
    pub fn from_json(body: &[u8]) -> Result<Self, DecodeError> {
        decode(body)
    }

    /// Decodes a stored body, and names its differences from the service's document, in one pass.
    ///
    /// ```
    /// use article_webhook::ArticleResult;
    ///
    /// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "A", "html": "", "tone": "warm"}}"#;
    /// let (result, drift) = ArticleResult::from_json_with_drift(body)?;
    /// assert_eq!(result.article.title, "A");
    /// assert_eq!(drift[0].to_string(), "article.tone: unknown field, a string");
    ///
    /// assert!(ArticleResult::from_json_with_drift(b"{}").is_err());
    /// # Ok::<(), article_webhook::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_json`](Self::from_json).
    pub fn from_json_with_drift(body: &[u8]) -> Result<(Self, Vec<Drift>), DecodeError> {
        decode_with_drift(body)
    }
}

impl fmt::Debug for ArticleResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArticleResult")
            .field("job_id", &self.job_id)
            .field("status", &self.status)
            .field("article", &self.article)
            .field("featured_image", &self.featured_image)
            .field("social_posts", &self.social_posts)
            .field("credits_used", &self.credits_used)
            .finish()
    }
}
