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
use crate::json::{self, Entries, Field, FromJson, Kind, ObjectFields};

pub(super) fn decode(body: &[u8]) -> Result<ArticleResult, DecodeError> {
    json::parse::<ResultDraft>(body).map_err(DecodeError::malformed)?.finish()
}

pub(super) fn decode_with_drift(body: &[u8]) -> Result<(ArticleResult, Vec<Drift>), DecodeError> {
    let draft = json::parse::<ResultDraft>(body).map_err(DecodeError::malformed)?;
    let drift = draft.drift();
    Ok((draft.finish()?, drift))
}

/// The drift of a body. A malformed body has none, because it was refused before.
pub(crate) fn drift(body: &[u8]) -> Vec<Drift> {
    json::parse::<ResultDraft>(body).map(|draft| draft.drift()).unwrap_or_default()
}

/// Declares the draft of one object, with each field that the service's document names.
macro_rules! draft {
    ($draft:ident at $prefix:literal { $($field:ident: $shape:ty,)* }) => {
        #[derive(Default)]
        pub(crate) struct $draft {
            $($field: Field<$shape>,)*
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
    pub(crate) fn job_id(&self) -> &Field<JobId> {
        &self.job_id
    }

    pub(crate) fn drift(&self) -> Vec<Drift> {
        let mut drift = Vec::new();
        self.report_drift(&mut drift);
        drift
    }

    pub(crate) fn finish(self) -> Result<ArticleResult, DecodeError> {
        let job_id = self.job_id.required("job_id")?;
        let status = self.status.required("status")?;
        if status != Status::Complete {
            return Err(DecodeError::mismatch("status", "`complete`", Some(Kind::String)));
        }
        Ok(ArticleResult {
            job_id,
            status,
            article: self.article.required("article")?.finish()?,
            featured_image: self.featured_image.optional().map(ImageDraft::finish),
            social_posts: self.social_posts.optional().unwrap_or_default().finish(),
            credits_used: self.credits_used.optional(),
        })
    }
}

impl ArticleDraft {
    fn finish(self) -> Result<Article, DecodeError> {
        Ok(Article {
            title: self.title.required("article.title")?,
            html: UntrustedHtml::new(self.html.required("article.html")?),
            meta_title: self.meta_title.optional(),
            meta_description: self.meta_description.optional(),
            eeat_score: self.eeat_score.optional(),
            word_count: self.word_count.optional(),
        })
    }
}

impl ImageDraft {
    fn finish(self) -> FeaturedImage {
        FeaturedImage { url: self.url.optional(), alt_text: self.alt_text.optional() }
    }
}

impl PostsDraft {
    fn finish(self) -> SocialPosts {
        // An array that could not be read holds too many values.
        const TOO_MANY: Field<Vec<SocialPost>> = Field::OtherKind(Kind::Array);
        if self.linkedin == TOO_MANY || self.x == TOO_MANY {
            return SocialPosts::default();
        }
        let posts = |found: Field<Vec<SocialPost>>| found.optional().unwrap_or_default();
        SocialPosts { linkedin: posts(self.linkedin), x: posts(self.x) }
    }
}

impl<T: FromJson> Field<T> {
    fn required(self, path: &'static str) -> Result<T, DecodeError> {
        let found = match self {
            Self::Value(value) => return Ok(value),
            Self::OtherKind(kind) => Some(kind),
            Self::Absent => None,
        };
        Err(DecodeError::mismatch(path, T::EXPECTED, found))
    }

    /// An article is not refused for what it can do without: a value of another kind is missing, and drift.
    fn optional(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::OtherKind(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_field_and_what_stands_there() {
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
                r#"{"job_id": "1", "status": "complete", "article": {"title": "", "html": null}}"#,
                "article.html",
                "article.html: expected a string, found null",
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
    fn what_is_optional_and_of_another_kind_is_missing_with_drift() {
        let body = |value: &str| {
            format!(
                r#"{{"job_id": "1", "status": "complete", "featured_image": {value}, "credits_used": {value},
                     "article": {{"title": "T", "html": "", "meta_title": {value}, "meta_description": {value},
                                  "eeat_score": {value}, "word_count": {value}}},
                     "social_posts": {{"linkedin": {value}, "x": ["a"]}}}}"#
            )
        };
        for (value, kind) in [("null", Kind::Null), ("true", Kind::Boolean)] {
            let result = decode(body(value).as_bytes()).unwrap();
            let article = result.article;
            assert_eq!((result.featured_image, result.credits_used), (None, None));
            assert_eq!((article.meta_title, article.meta_description), (None, None));
            assert_eq!((article.eeat_score, article.word_count), (None, None));
            assert_eq!((result.social_posts.linkedin.len(), result.social_posts.x.len()), (0, 1));

            let drift = super::drift(body(value).as_bytes());
            assert_eq!(drift.len(), 7);
            assert!(drift.iter().all(|drift| drift.found == kind && drift.expected.is_some()));
        }
    }

    #[test]
    fn an_image_keeps_the_fields_that_can_be_read() {
        let image = |image: &str| {
            let body = format!(
                r#"{{"job_id": "1", "status": "complete", "article": {{"title": "", "html": ""}},
                     "featured_image": {image}}}"#
            );
            decode(body.as_bytes()).unwrap().featured_image
        };
        let read = image(r#"{"url": ["a.png"], "alt_text": "A"}"#).unwrap();
        assert_eq!((read.url, read.alt_text.as_deref()), (None, Some("A")));
        assert_eq!(image("\"a.png\""), None);
    }

    #[test]
    fn posts_of_over_4096_values_are_missing_with_drift() {
        let body = |linkedin: usize, x: usize| {
            let array = |values: usize| "0,".repeat(values - 1) + "0";
            format!(
                r#"{{"job_id": "1", "status": "complete", "article": {{"title": "", "html": ""}},
                     "social_posts": {{"linkedin": [{{"a": [{}]}}], "x": [{}]}}}}"#,
                array(linkedin - 2),
                array(x)
            )
        };
        let read = |linkedin, x| {
            let body = body(linkedin, x);
            let posts = decode(body.as_bytes()).unwrap().social_posts;
            let drift = super::drift(body.as_bytes());
            let drift: Vec<_> = drift.iter().map(ToString::to_string).collect();
            (posts.linkedin.len(), posts.x.len(), drift)
        };
        assert_eq!(read(96, 4000), (1, 4000, vec![]));
        for (linkedin, x, path) in
            [(96, 4001, "x"), (4097, 1, "linkedin"), (8000, 8000, "linkedin")]
        {
            let (linkedin, x, drift) = read(linkedin, x);
            assert_eq!((linkedin, x), (0, 0));
            let expected = "expected an array of at most 4096 values, found an array";
            assert_eq!(drift[0], format!("social_posts.{path}: {expected}"));
        }
    }

    #[test]
    fn drift_names_the_first_unknown_fields_and_says_that_there_are_more() {
        let fields = |count: usize| -> String {
            (0..count).map(|field| format!(r#", "new_{field}": 0"#)).collect()
        };
        let long = "x".repeat(129);
        for (body, named) in [
            (format!(r#"{{"job_id": "1"{}}}"#, fields(64)), 64),
            (format!(r#"{{"job_id": "1"{}}}"#, fields(65)), 64),
            (format!(r#"{{"{}": 0, "{long}": 0, "a": 0}}"#, &long[1..]), 2),
        ] {
            let drift = super::drift(body.as_bytes());
            let unknown = drift.iter().filter(|drift| drift.expected.is_none()).count();
            assert_eq!(unknown, named);
            let more = "the body: expected at most 64 unknown fields with names of at most 128 bytes, found an object";
            let said: Vec<_> = drift[named..].iter().map(ToString::to_string).collect();
            let is_more = body.contains("new_64") || body.contains(&long);
            assert_eq!(said, if is_more { vec![more] } else { vec![] });
        }
    }

    #[test]
    fn drift_is_told_in_words_with_its_names_escaped() {
        let body = br#"{"job_id": "1", "credits_used": "2", "status": null, "a\u0000b": [],
                        "article": {"title": {}, "new": true}}"#;
        let drift: Vec<_> = drift(body).iter().map(ToString::to_string).collect();
        assert_eq!(
            drift,
            [
                "status: expected a string, found null",
                "article.title: expected a string, found an object",
                "article.new: unknown field, a boolean",
                "credits_used: expected a number, found a string",
                "a\\0b: unknown field, an array",
            ]
        );
        assert_eq!(super::drift(b"{"), []);
    }
}
