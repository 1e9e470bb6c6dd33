/// What an article is to be.
///
/// ```
/// use article_simulator::articles::{Length, Order, generate};
///
/// let order = Order { job_id: "job_1", topic: "Shoes", image_base: "", credits_used: 1, length: Length::Bytes(64_000) };
/// assert!((63_360..=64_000).contains(&generate(7, &order).len()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order<'a> {
    /// The job it is the result of, written as it is given.
    pub job_id: &'a str,
    /// What it is about: its title. Where it is blank, one is drawn.
    pub topic: &'a str,
    /// Where the featured images are; `/{seed}.png` is added.
    pub image_base: &'a str,
    /// What the job costs.
    pub credits_used: u64,
    /// How long it is.
    pub length: Length,
}

/// How long an article is.
///
/// ```
/// use article_simulator::articles::{Length, Order, generate};
///
/// let order = Order { job_id: "job_1", topic: "Shoes", image_base: "", credits_used: 1, length: Length::Words(800) };
/// let result = article_webhook::ArticleResult::from_json(&generate(7, &order))?;
/// assert_eq!(result.article.word_count.unwrap().as_u64(), Some(800));
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// 500 to 3,000 words, drawn from the seed.
    Drawn,
    /// So many words, if the title and the introduction have not more.
    Words(usize),
    /// The whole body has at most so many bytes, and at least 99 % of them, if it can be that short: some 4,000
    /// always can. A receiver's limit is 8 MiB unless it was set.
    Bytes(usize),
}
