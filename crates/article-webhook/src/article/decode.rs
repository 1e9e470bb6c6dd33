//! From a body to the typed result.
//!
//! Each object is read into a draft, which records what the body holds for each known field; `finish`
//! then checks that the required fields are present. One pass over the body serves decoding, its errors
//! and drift.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess},
};

use super::{
    Article, ArticleResult, DecodeError, Drift, FeaturedImage, InvalidJobId, JobId, SocialPost,
    SocialPosts, Status, UntrustedHtml,
    drift::{ReportDrift, UnknownFields},
    status::{ErrorCode, reported_failure},
};
use crate::json::{
    self, Elements, Entries, Field, FromJson, Kind, MalformedJson, ObjectFields, RepairAt, Skipped,
    skip_array,
};

pub(super) fn decode_with_drift(body: &[u8]) -> Result<(ArticleResult, Vec<Drift>), DecodeError> {
    let parsed = ParsedResult::parse(body).map_err(DecodeError::of_malformed)?;
    let drift = parsed.drift();
    Ok((parsed.finish()?, drift))
}

pub(super) fn decode(body: &[u8]) -> Result<ArticleResult, DecodeError> {
    ParsedResult::parse(body).map_err(DecodeError::of_malformed)?.finish()
}

/// The drift of a body. A malformed body has none, because it was refused before.
pub(crate) fn drift(body: &[u8]) -> Vec<Drift> {
    ParsedResult::parse(body).map(|parsed| parsed.drift()).unwrap_or_default()
}

/// A body as a result, with what had to be repaired.
pub(crate) struct ParsedResult {
    draft: ResultDraft,
    repairs: Vec<RepairAt>,
}

impl ParsedResult {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, MalformedJson> {
        json::parse(body).map(|(draft, repairs)| Self { draft, repairs })
    }

    pub(crate) fn job_id(&self) -> Result<Option<&JobId>, InvalidJobId> {
        match &self.draft.job_id {
            Field::Absent => Ok(None),
            Field::Value(id) => id.as_ref().map(Some).map_err(|&reason| reason),
            Field::OtherKind(kind) => Err(InvalidJobId::OtherKind(*kind)),
        }
    }

    /// The failure of the job that the body reports.
    pub(crate) fn failure(&self) -> Option<DecodeError> {
        reported_failure(&self.draft.error, &self.draft.status)
    }

    /// Whether nothing is said about a job or an article.
    pub(crate) fn is_about_nothing(&self) -> bool {
        matches!((&self.draft.job_id, &self.draft.article), (Field::Absent, Field::Absent))
    }

    /// Whether the body names its job, says that the job is complete, and has all that an article requires.
    pub(crate) fn is_complete_article(&self) -> bool {
        let ResultDraft { job_id, status, article, .. } = &self.draft;
        let identified = matches!(job_id, Field::Value(Ok(_)));
        let complete = matches!(status, Field::Value(status) if status.is_complete());
        identified && complete && matches!(article, Field::Value(article) if article.is_whole())
    }

    pub(crate) fn drift(&self) -> Vec<Drift> {
        let mut drift = Vec::new();
        self.draft.report_drift("", &mut drift);
        drift.extend(self.repairs.iter().map(Drift::from));
        drift
    }

    pub(crate) fn finish(self) -> Result<ArticleResult, DecodeError> {
        self.draft.finish()
    }
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
                entries: &mut Entries<'_, 'de, A>,
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
            fn report_drift(&self, _: &'static str, drift: &mut Vec<Drift>) {
                $(self.$field.report_drift(concat!($prefix, stringify!($field)), drift);)*
                self.unknown.report_drift($prefix, drift);
            }
        }
    };
}

draft!(ResultDraft at "" {
    job_id: Result<JobId, InvalidJobId>,
    status: Status,
    article: ArticleDraft,
    featured_image: ImageValue,
    social_posts: PostsDraft,
    credits_used: f64,
    error: ErrorCode,
});

draft!(ArticleDraft at "article." {
    title: String,
    html: String,
    meta_title: String,
    meta_description: String,
    eeat_score: f64,
    word_count: u64,
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
    /// Whatever the status says or lacks, what has a title and HTML is an article, unless a failure is reported.
    pub(super) fn finish(self) -> Result<ArticleResult, DecodeError> {
        let job_id = self.job_id.required("job_id")?.map_err(|_| {
            DecodeError::mismatch("job_id", Result::<JobId, _>::EXPECTED, Some(Kind::String))
        })?;
        if let Some(failure) = reported_failure(&self.error, &self.status) {
            return Err(failure);
        }
        let status = self.status.optional().unwrap_or(Status::Complete);
        Ok(ArticleResult {
            job_id,
            status,
            article: self.article.required("article")?.finish()?,
            featured_image: self.featured_image.optional().map(|image| image.fields.finish()),
            social_posts: self.social_posts.optional().unwrap_or_default().finish(),
            credits_used: self.credits_used.optional(),
        })
    }
}

impl ArticleDraft {
    fn is_whole(&self) -> bool {
        matches!((&self.title, &self.html), (Field::Value(_), Field::Value(_)))
    }

    pub(super) fn finish(self) -> Result<Article, DecodeError> {
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
    fn of_url(url: &str) -> Self {
        Self { url: Field::Value(url.to_owned()), ..Self::default() }
    }

    pub(super) fn finish(self) -> FeaturedImage {
        FeaturedImage { url: self.url.optional(), alt_text: self.alt_text.optional() }
    }
}

/// An image as an object, or as something else that can be understood.
pub(crate) struct ImageValue {
    fields: ImageDraft,
    /// The kind of the value, where it is not an object.
    other_kind: Option<Kind>,
}

impl FromJson for ImageValue {
    const EXPECTED: &'static str = "an object";

    fn text(url: &str) -> Option<Self> {
        let image = || Self { fields: ImageDraft::of_url(url), other_kind: Some(Kind::String) };
        (!url.is_empty()).then(image)
    }

    /// An array of one, which is no array itself.
    fn array<'de, A: SeqAccess<'de>>(
        mut elements: Elements<'_, A>,
    ) -> Result<Option<Self>, A::Error> {
        let first = elements.next()?;
        let is_one = elements.next::<Skipped>()?.is_none();
        skip_array(elements)?;
        Ok(match first {
            Some(Field::Value(Self { fields, other_kind })) => {
                let is_image = is_one && other_kind != Some(Kind::Array);
                is_image.then_some(Self { fields, other_kind: Some(Kind::Array) })
            }
            _ => None,
        })
    }

    fn object<'de, A: MapAccess<'de>>(
        entries: Entries<'_, 'de, A>,
    ) -> Result<Option<Self>, A::Error> {
        Ok(ImageDraft::object(entries)?.map(|fields| Self { fields, other_kind: None }))
    }
}

impl ReportDrift for ImageValue {
    fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        if self.other_kind.is_some() {
            drift.push(Drift::unexpected(path, Self::EXPECTED, self.other_kind));
        }
        self.fields.report_drift(path, drift);
    }
}

impl PostsDraft {
    pub(super) fn finish(self) -> SocialPosts {
        // An array that could not be read holds too many values.
        const TOO_MANY: Field<Vec<SocialPost>> = Field::OtherKind(Kind::Array);
        if self.linkedin == TOO_MANY || self.x == TOO_MANY {
            return SocialPosts::default();
        }
        let posts = |found: Field<Vec<SocialPost>>| found.optional().unwrap_or_default();
        SocialPosts { linkedin: posts(self.linkedin), x: posts(self.x) }
    }
}

/// By the rules of [`ArticleResult::from_json`].
impl<'de> Deserialize<'de> for ArticleResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::deserialize::<ResultDraft, D>(deserializer)?.finish().map_err(D::Error::custom)
    }
}

/// By the rules of [`ArticleResult::from_json`](crate::ArticleResult::from_json).
impl<'de> Deserialize<'de> for Article {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::deserialize::<ArticleDraft, D>(deserializer)?.finish().map_err(D::Error::custom)
    }
}

/// By the rules of [`ArticleResult::from_json`](crate::ArticleResult::from_json): what cannot be read is missing.
impl<'de> Deserialize<'de> for FeaturedImage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::deserialize::<ImageValue, D>(deserializer).map(|image| image.fields.finish())
    }
}

/// By the rules of [`ArticleResult::from_json`](crate::ArticleResult::from_json): what cannot be read is missing.
impl<'de> Deserialize<'de> for SocialPosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::deserialize(deserializer).map(PostsDraft::finish)
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
    use crate::Difference;

    fn texts(drift: &[Drift]) -> Vec<String> {
        drift.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_error_names_the_field_and_what_stands_there() {
        for (body, path, message) in [
            ("{", "", "malformed JSON: EOF while parsing an object at line 1 column 1"),
            ("{\n \"a\": }", "a", "malformed JSON: expected value at a, line 2 column 7"),
            ("{}", "job_id", "job_id: expected a job id, found nothing"),
            (r#"{"job_id": " "}"#, "job_id", "job_id: expected a job id, found a string"),
            (
                r#"{"job_id": "1", "status": "Failed"}"#,
                "status",
                "status: the service reports a failure, `failed`",
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
    fn whatever_the_status_says_what_has_a_title_and_html_is_an_article() {
        let other = |name: &str| Status::Other(name.into());
        for (field, status, found) in [
            (r#""status": "complete","#, Status::Complete, None),
            (r#""status": "completed","#, other("completed"), Some("a string")),
            (r#""status": "Complete","#, other("Complete"), Some("a string")),
            (r#""status": "","#, other(""), Some("a string")),
            (r#""status": null,"#, Status::Complete, Some("null")),
            (r#""status": 1,"#, Status::Complete, Some("a number")),
            ("", Status::Complete, Some("nothing")),
        ] {
            let body =
                format!(r#"{{{field} "job_id": "1", "article": {{"title": "", "html": ""}}}}"#);
            let (result, drift) = decode_with_drift(body.as_bytes()).unwrap();
            assert_eq!(result.status, status, "{body}");
            let expected = found.map(|found| format!("status: expected `complete`, found {found}"));
            assert_eq!(texts(&drift), Vec::from_iter(expected), "{body}");
        }
    }

    #[test]
    fn a_failure_is_no_article_although_it_has_one() {
        let read = |field: &str| {
            let body =
                format!(r#"{{{field}, "job_id": "1", "article": {{"title": "", "html": ""}}}}"#);
            decode(body.as_bytes()).map_err(|error| error.to_string())
        };
        for (field, expected) in [
            (r#""status": "failed""#, "status: the service reports a failure, `failed`"),
            (r#""status": "ERROR""#, "status: the service reports a failure, `error`"),
            (r#""status": "cancelled""#, "status: the service reports a failure, `cancelled`"),
            (
                r#""status": "complete", "error": "credits_exhausted""#,
                "error: the service reports a failure, `credits_exhausted`",
            ),
        ] {
            assert_eq!(read(field), Err(expected.to_owned()));
        }
        for no_code in ["null", "{}", "7", r#""none""#] {
            assert!(read(&format!(r#""error": {no_code}"#)).is_ok(), "{no_code}");
        }
        let drift = drift(br#"{"status": "complete", "error": "generation_failed"}"#);
        assert_eq!(texts(&drift), ["error: unknown field, a string"]);
    }

    #[test]
    fn a_result_is_written_and_read_again() {
        let body = br#"{"job_id": "1", "status": "done", "article": {"title": "A", "html": "B",
            "word_count": 44, "eeat_score": 0.5, "meta_title": "C", "meta_description": "D"},
            "featured_image": {"url": "a.png"}, "credits_used": 2.0,
            "social_posts": {"linkedin": [{"text": "E"}], "x": ["F"]}}"#;
        let result = decode(body).unwrap();
        let written = serde_json::to_string(&result).unwrap();
        assert!(written.contains(r#""credits_used":2}"#), "{written}");
        assert!(written.contains(r#""eeat_score":0.5"#), "{written}");
        assert_eq!(serde_json::from_str::<ArticleResult>(&written).unwrap(), result);
        let value = serde_json::to_value(&result).unwrap();
        assert_eq!(serde_json::from_value::<ArticleResult>(value).unwrap(), result);
        let parts = (result.article, result.featured_image, result.social_posts);
        let written = serde_json::to_string(&parts).unwrap();
        let read: (Article, Option<FeaturedImage>, SocialPosts) =
            serde_json::from_str(&written).unwrap();
        assert_eq!(read, parts);
    }

    #[test]
    fn a_result_is_deserialised_by_the_rules_of_a_body() {
        let read = |json: &str| {
            serde_json::from_str::<ArticleResult>(json).map_err(|error| error.to_string())
        };
        let lenient = r#"{"job_id": "1", "credits_used": "2", "new": 1, "featured_image": ["a.png"],
                          "article": {"title": "A", "html": "B"}}"#;
        assert_eq!(read(lenient).unwrap(), decode(lenient.as_bytes()).unwrap());
        for (json, expected) in [
            ("[]", "expected an object, found an array"),
            (r#"{"job_id": ".."}"#, "job_id: expected a job id, found a string"),
            (r#"{"job_id": "1"}"#, "article: expected an object, found nothing"),
            (
                r#"{"job_id": "1", "status": "error"}"#,
                "status: the service reports a failure, `error`",
            ),
            (r#"{"job_id": "1", "job_id": "1"}"#, "a key twice"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = serde_json::from_str::<Article>(r#"{"title": "A"}"#).unwrap_err().to_string();
        assert!(error.starts_with("article.html: expected a string, found nothing"), "{error}");
    }

    #[test]
    fn an_image_may_be_its_url_or_an_array_of_one() {
        let read = |image: &str| {
            let body = format!(
                r#"{{"job_id": "1", "status": "complete", "article": {{"title": "", "html": ""}},
                     "featured_image": {image}}}"#
            );
            let (result, drift) = decode_with_drift(body.as_bytes()).unwrap();
            (result.featured_image, texts(&drift))
        };
        let a = FeaturedImage::new("a.png");
        let described = FeaturedImage { alt_text: Some("A".to_owned()), ..a.clone() };
        for (json, image, found) in [
            (r#""a.png""#, Some(&a), "a string"),
            (r#"["a.png"]"#, Some(&a), "an array"),
            (r#"[{"url": "a.png", "alt_text": "A"}]"#, Some(&described), "an array"),
            (r#"["a.png", "b.png"]"#, None, "an array"),
            (r#"["a.png", 7, {}]"#, None, "an array"),
            (r#"[["a.png"]]"#, None, "an array"),
            ("[7]", None, "an array"),
            ("[]", None, "an array"),
            ("\"\"", None, "a string"),
            ("true", None, "a boolean"),
        ] {
            let expected = format!("featured_image: expected an object, found {found}");
            assert_eq!(read(json), (image.cloned(), vec![expected]), "{json}");
        }
        let partial = read(r#"{"url": ["a.png"], "alt_text": "A"}"#).0.unwrap();
        assert_eq!((partial.url, partial.alt_text.as_deref()), (None, Some("A")));
        let new = r#"[{"url": "a.png", "width": 7}]"#;
        assert_eq!(read(new).1[1], "featured_image.width: unknown field, a number");
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
            let found = Some(kind);
            let is_of_kind = |drift: &Drift| matches!(drift.difference, Difference::Unexpected { found: kind, .. } if kind == found);
            assert!(drift.iter().all(is_of_kind));
        }
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
            (format!(r#"{{"status": "complete"{}}}"#, fields(64)), 64),
            (format!(r#"{{"status": "complete"{}}}"#, fields(65)), 64),
            (format!(r#"{{"status": "complete", "{}": 0, "{long}": 0, "a": 0}}"#, &long[1..]), 2),
        ] {
            let drift = super::drift(body.as_bytes());
            let is_unknown =
                |drift: &&Drift| matches!(drift.difference, Difference::UnknownField(_));
            let unknown = drift.iter().filter(is_unknown).count();
            assert_eq!(unknown, named);
            let more = "the body: expected at most 64 unknown fields with names of at most 128 bytes, found an object";
            let texts = texts(&drift[named..]);
            let is_more = body.contains("new_64") || body.contains(&long);
            assert_eq!(texts, if is_more { vec![more] } else { vec![] });
        }
    }

    #[test]
    fn drift_is_described_in_words_with_its_names_escaped() {
        let body = br#"{"job_id": "1", "credits_used": "2", "status": null, "a\u0000b": [],
                        "article": {"title": {}, "new": true}}"#;
        let drift: Vec<_> = drift(body).iter().map(ToString::to_string).collect();
        assert_eq!(
            drift,
            [
                "status: expected `complete`, found null",
                "article.title: expected a string, found an object",
                "article.new: unknown field, a boolean",
                "credits_used: expected a number, found a string",
                "a\\0b: unknown field, an array",
            ]
        );
        assert_eq!(super::drift(b"{"), []);
    }
}
