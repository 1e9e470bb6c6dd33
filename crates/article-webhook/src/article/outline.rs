//! The part of a body that must be known before a delivery is accepted: that it is well-formed, and
//! which job it is about.

use serde::de::MapAccess;

use super::{JobId, Status};
use crate::json::{Entries, Found, FromJson, ObjectFields};

#[derive(Default)]
pub(crate) struct Outline {
    pub(crate) job_id: Found<JobId>,
    status: Found<Status>,
    article: Found<ArticleOutline>,
    // Read for their keys alone: no object with documented fields may repeat one.
    featured_image: Found<KeysOnly>,
    social_posts: Found<KeysOnly>,
}

impl Outline {
    /// Whether all required fields of a complete article are there, its job id included.
    pub(crate) fn is_complete_article(&self) -> bool {
        let identified = matches!(self.job_id, Found::Value(_));
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
