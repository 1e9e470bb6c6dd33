use std::fmt;

use serde::Serialize;
use serde_json::Number;

use super::{
    Article, DecodeError, Drift, FeaturedImage, JobId, SocialPosts, Status,
    decode::{decode, decode_with_drift},
};

/// The result of a finished job: the body of a delivery, and the response of the job status endpoint (service
/// document, section 2.1).
///
/// `job_id`, `status`, `article.title` and `article.html` are required. The document does not say which other
/// fields are always present, so each of them may be missing. One with another kind of value is missing too, and so
/// is `null`: no article is refused for what it can do without. Fields that this version does not know are ignored.
/// [`Delivery::drift`](crate::Delivery::drift) names both.
///
/// Decoding takes at most about three times the memory of the body, and a few MiB, whatever the shape of the JSON.
///
/// `Debug` shows identity and sizes, never content. Serialising produces the service's format.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let result = ArticleResult::from_json(
///     br#"{"job_id": "job_1", "status": "complete", "credits_used": 2.0,
///          "article": {"title": "Hello", "html": "<article>Hi</article>"}}"#,
/// )?;
/// assert_eq!(result.article.title, "Hello");
/// assert_eq!(result.credits_used.unwrap().as_u64(), Some(2));
/// assert!(result.featured_image.is_none());
///
/// let result = ArticleResult::from_json(
///     br#"{"job_id": "job_1", "status": "complete", "credits_used": "2", "featured_image": "hello.png",
///          "article": {"title": "Hello", "html": "<article>Hi</article>"}}"#,
/// )?;
/// assert_eq!((result.credits_used, result.featured_image), (None, None)); // of another kind than documented
///
/// let error = ArticleResult::from_json(br#"{"job_id": "job_1", "status": "complete"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "article: expected an object, found nothing");
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive] // the service may document more fields
pub struct ArticleResult {
    /// The job: use it as the idempotency key for work on the article.
    pub job_id: JobId,
    /// The state of the job: always [`Status::Complete`] in a decoded result.
    pub status: Status,
    /// The article itself.
    pub article: Article,
    /// The image to show with the article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub featured_image: Option<FeaturedImage>,
    /// Posts that announce the article; empty if the service sent none.
    pub social_posts: SocialPosts,
    /// Credits consumed by the job. An integer according to the document; a fraction or a negative number is kept
    /// as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_used: Option<Number>,
}

impl ArticleResult {
    /// Decodes a stored body, or a response of the job status endpoint.
    ///
    /// # Errors
    ///
    /// A [`DecodeError`] that names the first required field that is missing or not of the documented kind, or the
    /// position at which the JSON is malformed.
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
