//! What must be known about a body before a delivery is accepted: whether it is well-formed, and its
//! job.

use serde::de::MapAccess;

use super::{
    DecodeError, InvalidJobId, JobId, Status,
    featured_image::{ImageFields, ImageValue},
    status::{ErrorCode, reported_failure},
};
use crate::json::{self, Entries, Field, FromJson, MalformedJson, ObjectFields};

#[derive(Default)]
pub(crate) struct Outline {
    job_id: Field<Result<JobId, InvalidJobId>>,
    status: Field<Status>,
    article: Field<ArticleOutline>,
    error: Field<ErrorCode>,
    // Only their keys are read, because an object with documented fields must not repeat a key.
    featured_image: Field<ImageValue<KeysOnly>>,
    social_posts: Field<KeysOnly>,
}

impl Outline {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, MalformedJson> {
        json::parse(body).map(|(outline, _)| outline)
    }

    pub(crate) fn job_id(&self) -> Result<Option<&JobId>, InvalidJobId> {
        match &self.job_id {
            Field::Absent => Ok(None),
            Field::Value(id) => id.as_ref().map(Some).map_err(|&reason| reason),
            Field::OtherKind(kind) => Err(InvalidJobId::OtherKind(*kind)),
        }
    }

    /// The failure of the job that the body reports.
    pub(crate) fn failure(&self) -> Option<DecodeError> {
        reported_failure(&self.error, &self.status)
    }

    /// Whether nothing is said about a job or an article.
    pub(crate) fn is_about_nothing(&self) -> bool {
        matches!((&self.job_id, &self.article), (Field::Absent, Field::Absent))
    }

    /// Whether all required fields of a complete article are present, including its job id.
    pub(crate) fn is_complete_article(&self) -> bool {
        let identified = matches!(self.job_id, Field::Value(Ok(_)));
        let complete = matches!(&self.status, Field::Value(status) if status.is_complete());
        let article = ArticleOutline { title: Field::Value(Text), html: Field::Value(Text) };
        identified && complete && matches!(&self.article, Field::Value(found) if *found == article)
    }
}

impl ObjectFields for Outline {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'_, 'de, A>,
    ) -> Result<bool, A::Error> {
        match key {
            "job_id" => entries.read_into(&mut self.job_id)?,
            "status" => entries.read_into(&mut self.status)?,
            "article" => entries.read_into(&mut self.article)?,
            "error" => entries.read_into(&mut self.error)?,
            "featured_image" => entries.read_into(&mut self.featured_image)?,
            "social_posts" => entries.read_into(&mut self.social_posts)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default, PartialEq)]
struct ArticleOutline {
    title: Field<Text>,
    html: Field<Text>,
}

impl ObjectFields for ArticleOutline {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'_, 'de, A>,
    ) -> Result<bool, A::Error> {
        match key {
            "title" => entries.read_into(&mut self.title)?,
            "html" => entries.read_into(&mut self.html)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default)]
struct KeysOnly;

impl ObjectFields for KeysOnly {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        _: &str,
        _: &mut Entries<'_, 'de, A>,
    ) -> Result<bool, A::Error> {
        Ok(false)
    }
}

impl ImageFields for KeysOnly {
    fn of_url(_: &str) -> Self {
        Self
    }
}

/// A string, checked and not copied.
#[derive(PartialEq)]
struct Text;

impl FromJson for Text {
    const EXPECTED: &'static str = "a string";

    fn text(_: &str) -> Option<Self> {
        Some(Self)
    }
}
