/// The specification of an article.
///
/// ```
/// use article_webhook_simulator::articles::{Length, ArticleSpec, generate};
///
/// let spec = ArticleSpec { length: Length::Bytes(64_000), ..ArticleSpec::new("job_1", "Shoes") };
/// assert!((63_360..=64_000).contains(&generate(7, &spec).len()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a literal with `..ArticleSpec::new(job_id, topic)`"
)]
pub struct ArticleSpec<'a> {
    /// The id of the job. It is not validated.
    pub job_id: &'a str,
    /// The topic, which becomes the title. If it is blank, a title is drawn.
    pub topic: &'a str,
    /// The base URL of the featured image; `/{seed}.png` is added.
    pub image_base: &'a str,
    /// The price of the job.
    pub credits_used: u64,
    /// The length.
    pub length: Length,
    /// A literal without `..ArticleSpec::new(job_id, topic)` would not compile with a version that has more fields.
    #[doc(hidden)]
    pub more: (),
}

impl<'a> ArticleSpec<'a> {
    /// An article of a drawn length that used one credit. The URL of its image has no base.
    #[must_use]
    pub fn new(job_id: &'a str, topic: &'a str) -> Self {
        Self { job_id, topic, image_base: "", credits_used: 1, length: Length::Drawn, more: () }
    }
}

/// The length of an article.
///
/// ```
/// use article_webhook_simulator::articles::{Length, ArticleSpec, generate};
///
/// let spec = ArticleSpec { length: Length::Words(800), ..ArticleSpec::new("job_1", "Shoes") };
/// let result = article_webhook::ArticleResult::from_json(&generate(7, &spec))?;
/// assert_eq!(result.article.word_count, Some(800));
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // there are more ways to measure an article
pub enum Length {
    /// 500 to 3,000 words, drawn from the seed.
    Drawn,
    /// This number of words, or more if the title has more.
    Words(usize),
    /// The whole body has at most this number of bytes, and at least 99 % of it. From about 4,000 bytes on this is always
    /// possible. The default limit of a receiver is 8 MiB.
    Bytes(usize),
}
