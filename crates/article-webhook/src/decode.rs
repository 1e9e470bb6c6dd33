//! From a body to the typed result.
//!
//! Each object is read into a draft, whose slots tell what stood there; `finish` demands what must
//! be there. One pass over the body serves decoding, its errors and the report of drift.

use std::fmt;

use serde::de::MapAccess;
use serde_json::Number;

use crate::{
    Article, ArticleResult, Drift, FeaturedImage, JobId, Kind, SocialPost, SocialPosts, Status,
    UntrustedHtml,
    drift::Unknown,
    json::{self, Fields, Malformed, Shape, Slot},
    reader::Entries,
};

pub(crate) fn decode(body: &[u8]) -> Result<ArticleResult, DecodeError> {
    json::parse::<ResultDraft>(body)
        .map_err(|malformed| DecodeError(Cause::Malformed(malformed)))?
        .finish()
}

/// Why a body is no article result. Names the field and the kinds of values, never a value.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let error = ArticleResult::from_json(b"{\"job_id\": ").unwrap_err();
/// assert_eq!(error.to_string(), "malformed JSON at line 1 column 11");
/// assert_eq!(error.path(), "");
///
/// let error = ArticleResult::from_json(br#"{"job_id": 7}"#).unwrap_err();
/// assert_eq!(error.to_string(), "job_id: expected a job id, found a number");
/// assert_eq!(error.path(), "job_id");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError(Cause);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Malformed(Malformed),
    Mismatch { path: &'static str, expected: &'static str, found: Option<Kind> },
}

impl DecodeError {
    /// The field that is missing or of another kind than documented, as a path with dots into the
    /// JSON; empty where the body is not well-formed JSON.
    ///
    /// ```
    /// use article_webhook::ArticleResult;
    ///
    /// let body = br#"{"job_id": "job_1", "status": "complete", "article": []}"#;
    /// assert_eq!(ArticleResult::from_json(body).unwrap_err().path(), "article");
    /// ```
    #[must_use]
    pub fn path(&self) -> &'static str {
        match self.0 {
            Cause::Malformed(_) => "",
            Cause::Mismatch { path, .. } => path,
        }
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Cause::Malformed(Malformed { line, column }) => {
                write!(f, "malformed JSON at line {line} column {column}")
            }
            Cause::Mismatch { path, expected, found: Some(kind) } => {
                write!(f, "{path}: expected {expected}, found {kind}")
            }
            Cause::Mismatch { path, expected, .. } => {
                write!(f, "{path}: expected {expected}, found nothing")
            }
        }
    }
}

impl<T: Shape> Slot<T> {
    fn required(self, path: &'static str) -> Result<T, DecodeError> {
        let found = match self {
            Self::Is(value) => return Ok(value),
            Self::Other(kind) => Some(kind),
            Self::Absent => None,
        };
        let expected = T::EXPECTED;
        Err(DecodeError(Cause::Mismatch { path, expected, found }))
    }

    fn optional(self, path: &'static str) -> Result<Option<T>, DecodeError> {
        match self {
            Self::Absent | Self::Other(Kind::Null) => Ok(None),
            present => present.required(path).map(Some),
        }
    }
}

/// Declares the draft of one object: a slot for each field that the document names.
macro_rules! draft {
    ($draft:ident at $prefix:literal { $($field:ident: $shape:ty,)* }) => {
        #[derive(Default)]
        pub(crate) struct $draft {
            $($field: Slot<$shape>,)*
            unknown: Unknown,
        }

        impl Fields for $draft {
            fn field<'de, A: MapAccess<'de>>(
                &mut self,
                key: &str,
                entries: &mut Entries<'de, A>,
            ) -> Result<bool, A::Error> {
                match key {
                    $(stringify!($field) => entries.fill(&mut self.$field)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            fn unknown(&mut self, key: &str, kind: Kind) {
                self.unknown.push(key, kind);
            }

            fn drift(&self, drift: &mut Vec<Drift>) {
                $(self.$field.drift(concat!($prefix, stringify!($field)), drift);)*
                self.unknown.drift($prefix, drift);
            }
        }
    };
}

draft!(ResultDraft at "" {
    job_id: JobId,
    status: Status,
    article: ArticleDraft,
    featured_image: ImageDraft,
    social_posts: PostsDraft,
    credits_used: Number,
});

draft!(ArticleDraft at "article." {
    title: String,
    html: String,
    meta_title: String,
    meta_description: String,
    eeat_score: Number,
    word_count: Number,
});

draft!(ImageDraft at "featured_image." {
    url: String,
    alt_text: String,
});

draft!(PostsDraft at "social_posts." {
    linkedin: Vec<SocialPost>,
    x: Vec<SocialPost>,
});

impl ResultDraft {
    pub(crate) fn job_id(&self) -> &Slot<JobId> {
        &self.job_id
    }

    pub(crate) fn finish(self) -> Result<ArticleResult, DecodeError> {
        let job_id = self.job_id.required("job_id")?;
        let status = self.status.required("status")?;
        if status != Status::Complete {
            return Err(DecodeError(Cause::Mismatch {
                path: "status",
                expected: "`complete`",
                found: Some(Kind::String),
            }));
        }
        let featured_image = self.featured_image.optional("featured_image")?;
        let social_posts = self.social_posts.optional("social_posts")?;
        Ok(ArticleResult {
            job_id,
            status,
            article: self.article.required("article")?.finish()?,
            featured_image: featured_image.map(ImageDraft::finish).transpose()?,
            social_posts: social_posts.unwrap_or_default().finish()?,
            credits_used: self.credits_used.optional("credits_used")?,
        })
    }
}

impl ArticleDraft {
    fn finish(self) -> Result<Article, DecodeError> {
        Ok(Article {
            title: self.title.required("article.title")?,
            html: UntrustedHtml::new(self.html.required("article.html")?),
            meta_title: self.meta_title.optional("article.meta_title")?,
            meta_description: self.meta_description.optional("article.meta_description")?,
            eeat_score: self.eeat_score.optional("article.eeat_score")?,
            word_count: self.word_count.optional("article.word_count")?,
        })
    }
}

impl ImageDraft {
    fn finish(self) -> Result<FeaturedImage, DecodeError> {
        Ok(FeaturedImage {
            url: self.url.optional("featured_image.url")?,
            alt_text: self.alt_text.optional("featured_image.alt_text")?,
        })
    }
}

impl PostsDraft {
    fn finish(self) -> Result<SocialPosts, DecodeError> {
        let linkedin = self.linkedin.optional("social_posts.linkedin")?;
        let x = self.x.optional("social_posts.x")?;
        Ok(SocialPosts { linkedin: linkedin.unwrap_or_default(), x: x.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_field_and_what_stands_there() {
        let article = r#""status": "complete", "article": {"title": "", "html": ""}"#;
        for (body, path, message) in [
            ("{", "", "malformed JSON at line 1 column 1"),
            ("{\n \"a\": }", "", "malformed JSON at line 2 column 7"),
            ("{}", "job_id", "job_id: expected a job id, found nothing"),
            (r#"{"job_id": " "}"#, "job_id", "job_id: expected a job id, found a string"),
            (
                r#"{"job_id": "1", "status": "failed"}"#,
                "status",
                "status: expected `complete`, found a string",
            ),
            (
                &format!(r#"{{"job_id": "1", {article}, "featured_image": {{"url": true}}}}"#),
                "featured_image.url",
                "featured_image.url: expected a string, found a boolean",
            ),
            (
                &format!(r#"{{"job_id": "1", {article}, "social_posts": {{"x": {{}}}}}}"#),
                "social_posts.x",
                "social_posts.x: expected an array, found an object",
            ),
        ] {
            let error = decode(body.as_bytes()).unwrap_err();
            assert_eq!((error.path(), error.to_string().as_str()), (path, message), "{body}");
        }
    }

    #[test]
    fn a_number_is_kept_whatever_its_sign_and_its_fraction() {
        for number in ["44", "-3", "44.5", "-0.5"] {
            let body = format!(
                r#"{{"job_id": "1", "status": "complete", "credits_used": {number},
                    "article": {{"title": "", "html": ""}}}}"#
            );
            let credits_used = decode(body.as_bytes()).unwrap().credits_used.unwrap();
            assert_eq!(credits_used.to_string(), number);
        }
    }

    #[test]
    fn what_is_optional_may_be_missing_or_null() {
        let body = r#"{"job_id": "1", "status": "complete", "featured_image": null, "credits_used": null,
                       "article": {"title": "T", "html": "", "meta_title": null},
                       "social_posts": {"linkedin": null}}"#;
        let result = decode(body.as_bytes()).unwrap();
        assert_eq!((result.featured_image, result.credits_used), (None, None));
        assert_eq!((result.article.meta_title, result.article.word_count), (None, None));
        assert_eq!(result.social_posts, SocialPosts::default());
    }
}
