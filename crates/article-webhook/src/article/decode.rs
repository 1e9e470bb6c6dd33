//! From a body to the typed result.
//!
//! Each object is read into a draft, which records what the body holds for each known field; `finish`
//! then checks that the required fields are present. One pass over the body serves decoding, its errors
//! and drift.

use serde::de::MapAccess;
use serde_json::Number;

use super::{
    Article, ArticleResult, DecodeError, Drift, FeaturedImage, JobId, SocialPost, SocialPosts,
    Status, UntrustedHtml,
    drift::{ReportDrift, UnknownFields},
};
use crate::json::{self, Entries, Found, FromJson, Kind, ObjectFields};

pub(super) fn decode(body: &[u8]) -> Result<ArticleResult, DecodeError> {
    json::parse::<ResultDraft>(body).map_err(DecodeError::malformed)?.finish()
}

/// The drift of a body. A malformed body has none, because it was refused before.
pub(crate) fn drift(body: &[u8]) -> Vec<Drift> {
    let mut drift = Vec::new();
    if let Ok(draft) = json::parse::<ResultDraft>(body) {
        draft.report_drift(&mut drift);
    }
    drift
}

/// Declares the draft of one object, with each field that the service's document names.
macro_rules! draft {
    ($draft:ident at $prefix:literal { $($field:ident: $shape:ty,)* }) => {
        #[derive(Default)]
        pub(crate) struct $draft {
            $($field: Found<$shape>,)*
            unknown: UnknownFields,
        }

        impl ObjectFields for $draft {
            fn field<'de, A: MapAccess<'de>>(
                &mut self,
                key: &str,
                entries: &mut Entries<'de, A>,
            ) -> Result<bool, A::Error> {
                match key {
                    $(stringify!($field) => entries.read_into(&mut self.$field)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            fn unknown(&mut self, key: &str, kind: Kind) {
                self.unknown.push(key, kind);
            }
        }

        impl ReportDrift for $draft {
            fn report_drift(&self, drift: &mut Vec<Drift>) {
                $(self.$field.report_drift(concat!($prefix, stringify!($field)), drift);)*
                self.unknown.report_drift($prefix, drift);
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
    pub(crate) fn job_id(&self) -> &Found<JobId> {
        &self.job_id
    }

    pub(crate) fn finish(self) -> Result<ArticleResult, DecodeError> {
        let job_id = self.job_id.required("job_id")?;
        let status = self.status.required("status")?;
        if status != Status::Complete {
            return Err(DecodeError::mismatch("status", "`complete`", Some(Kind::String)));
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

impl<T: FromJson> Found<T> {
    fn required(self, path: &'static str) -> Result<T, DecodeError> {
        let found = match self {
            Self::Value(value) => return Ok(value),
            Self::OtherKind(kind) => Some(kind),
            Self::Absent => None,
        };
        Err(DecodeError::mismatch(path, T::EXPECTED, found))
    }

    fn optional(self, path: &'static str) -> Result<Option<T>, DecodeError> {
        match self {
            Self::Absent | Self::OtherKind(Kind::Null) => Ok(None),
            present => present.required(path).map(Some),
        }
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

    #[test]
    fn drift_is_told_in_words_with_its_names_escaped() {
        let body = br#"{"job_id": "1", "credits_used": "2", "status": null, "a\u0000b": [],
                        "article": {"title": {}, "new": true}}"#;
        let drift: Vec<_> = drift(body).iter().map(ToString::to_string).collect();
        assert_eq!(
            drift,
            [
                "article.title: expected a string, found an object",
                "article.new: unknown field, a boolean",
                "credits_used: expected a number, found a string",
                "a\\0b: unknown field, an array",
            ]
        );
        assert_eq!(super::drift(b"{"), []);
    }
}
