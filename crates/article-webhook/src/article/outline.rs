//! What must be known about a body before a delivery is accepted: whether it is well-formed, and its
//! job.

use serde::de::MapAccess;

use super::{InvalidJobId, JobId, Status};
use crate::json::{Entries, Found, FromJson, ObjectFields};

#[derive(Default)]
pub(crate) struct Outline {
    job_id: Found<Result<JobId, InvalidJobId>>,
    status: Found<Status>,
    article: Found<ArticleOutline>,
    // Only their keys are read, because an object with documented fields must not repeat a key.
    featured_image: Found<KeysOnly>,
    social_posts: Found<KeysOnly>,
}

impl Outline {
    pub(crate) fn job_id(&self) -> Result<Option<&JobId>, InvalidJobId> {
        match &self.job_id {
            Found::Absent => Ok(None),
            Found::Value(id) => id.as_ref().map(Some).map_err(|&reason| reason),
            Found::OtherKind(kind) => Err(InvalidJobId::OtherKind(*kind)),
        }
    }

    /// Whether all required fields of a complete article are present, including its job id.
    pub(crate) fn is_complete_article(&self) -> bool {
        let identified = matches!(self.job_id, Found::Value(Ok(_)));
        let complete = matches!(self.status, Found::Value(Status::Complete));
        let article = ArticleOutline { title: Found::Value(Text), html: Found::Value(Text) };
        identified && complete && matches!(&self.article, Found::Value(found) if *found == article)
    }
}

impl ObjectFields for Outline {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error> {
        match key {
            "job_id" => entries.read_into(&mut self.job_id)?,
            "status" => entries.read_into(&mut self.status)?,
            "article" => entries.read_into(&mut self.article)?,
            "featured_image" => entries.read_into(&mut self.featured_image)?,
            "social_posts" => entries.read_into(&mut self.social_posts)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default, PartialEq)]
struct ArticleOutline {
    title: Found<Text>,
    html: Found<Text>,
}

impl ObjectFields for ArticleOutline {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'de, A>,
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
        _: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error> {
        Ok(false)
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
