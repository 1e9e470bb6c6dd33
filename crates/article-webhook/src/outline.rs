//! What must be known of a body to let it in: that it is well-formed, and which job it is about.

use serde::de::MapAccess;

use crate::{
    JobId, Status,
    json::{Fields, Shape, Slot},
    reader::Entries,
};

#[derive(Default)]
pub(crate) struct Outline {
    pub(crate) job_id: Slot<JobId>,
    status: Slot<Status>,
    article: Slot<ArticleOutline>,
    // Read as objects only for their keys: no object with documented fields may repeat one.
    featured_image: Slot<Unread>,
    social_posts: Slot<Unread>,
}

impl Outline {
    /// Whether everything is there that an article cannot do without, its job id included.
    pub(crate) fn is_complete_article(&self) -> bool {
        let identified = matches!(self.job_id, Slot::Is(_));
        let complete = matches!(self.status, Slot::Is(Status::Complete));
        let article = ArticleOutline { title: Slot::Is(Text), html: Slot::Is(Text) };
        identified && complete && matches!(&self.article, Slot::Is(found) if *found == article)
    }
}

impl Fields for Outline {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error> {
        match key {
            "job_id" => entries.fill(&mut self.job_id)?,
            "status" => entries.fill(&mut self.status)?,
            "article" => entries.fill(&mut self.article)?,
            "featured_image" => entries.fill(&mut self.featured_image)?,
            "social_posts" => entries.fill(&mut self.social_posts)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default, PartialEq)]
struct ArticleOutline {
    title: Slot<Text>,
    html: Slot<Text>,
}

impl Fields for ArticleOutline {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error> {
        match key {
            "title" => entries.fill(&mut self.title)?,
            "html" => entries.fill(&mut self.html)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default)]
struct Unread;

impl Fields for Unread {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        _: &str,
        _: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error> {
        Ok(false)
    }
}

/// A string, looked at and not copied.
#[derive(PartialEq)]
struct Text;

impl Shape for Text {
    const EXPECTED: &'static str = "a string";

    fn text(_: &str) -> Option<Self> {
        Some(Self)
    }
}
