use arbitrary::{Result, Unstructured};

use super::pen::Pen;

/// What a legal body says. Only what is required is always there.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) job_id: String,
    pub(super) title: String,
    pub(super) html: String,
    pub(super) meta_title: Option<String>,
    pub(super) meta_description: Option<String>,
    pub(super) eeat_score: Option<i64>,
    pub(super) word_count: Option<i64>,
    pub(super) credits_used: Option<i64>,
    pub(super) url: Option<String>,
    pub(super) alt_text: Option<String>,
    pub(super) linkedin: Vec<String>,
    pub(super) x: Vec<String>,
}

impl Draft {
    /// A draft, and one of the many ways to write it down.
    pub(super) fn choose(data: &[u8]) -> (Self, String) {
        let mut choices = Unstructured::new(data);
        // Choices that have run out leave the rest of the draft empty.
        let draft = Self::draw(&mut choices).unwrap_or_default().with_job_id();
        let body = draft.body(&mut Pen::new(choices));
        (draft, body)
    }

    fn draw(choices: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self {
            job_id: text(choices)?,
            title: text(choices)?,
            html: text(choices)?,
            meta_title: option(choices, text)?,
            meta_description: option(choices, text)?,
            eeat_score: option(choices, number)?,
            word_count: option(choices, number)?.map(i64::abs),
            credits_used: option(choices, number)?,
            url: option(choices, text)?,
            alt_text: option(choices, text)?,
            linkedin: texts(choices)?,
            x: texts(choices)?,
        })
    }

    fn with_job_id(mut self) -> Self {
        self.job_id.retain(|c| !c.is_whitespace() && !c.is_control());
        // So it is neither empty nor dots, and at most as long as an id may be.
        self.job_id.insert_str(0, "job_");
        self
    }

    fn body(&self, pen: &mut Pen<'_>) -> String {
        let article = [
            ("title", Some(pen.text(&self.title))),
            ("html", Some(pen.text(&self.html))),
            ("meta_title", self.meta_title.as_ref().map(|text| pen.text(text))),
            ("meta_description", self.meta_description.as_ref().map(|text| pen.text(text))),
            ("eeat_score", self.eeat_score.map(|number| pen.number(number))),
            ("word_count", self.word_count.map(|number| pen.number(number))),
        ];
        let image = [
            ("url", self.url.as_ref().map(|text| pen.text(text))),
            ("alt_text", self.alt_text.as_ref().map(|text| pen.text(text))),
        ];
        let image_is_there = self.url.is_some() || self.alt_text.is_some();
        let posts = [("linkedin", pen.posts(&self.linkedin)), ("x", pen.posts(&self.x))];
        let posts_are_there = posts.iter().any(|(_, posts)| posts.is_some());
        let (article, image, posts) = (pen.object(article), pen.object(image), pen.object(posts));
        let result = [
            ("job_id", Some(pen.text(&self.job_id))),
            ("status", Some(pen.text("complete"))),
            ("article", Some(article)),
            ("featured_image", image_is_there.then_some(image)),
            ("social_posts", posts_are_there.then_some(posts)),
            ("credits_used", self.credits_used.map(|number| pen.number(number))),
        ];
        pen.object(result)
    }
}

fn option<T>(
    choices: &mut Unstructured<'_>,
    draw: fn(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    choices.arbitrary::<bool>()?.then(|| draw(choices)).transpose()
}

fn text(choices: &mut Unstructured<'_>) -> Result<String> {
    let length = choices.int_in_range(0..=24)?;
    let bytes = choices.bytes(usize::min(length, choices.len()))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn texts(choices: &mut Unstructured<'_>) -> Result<Vec<String>> {
    (0..choices.int_in_range(0..=3)?).map(|_| text(choices)).collect()
}

/// Up to 2^53, beyond which not every sender keeps an integer apart from its neighbours.
fn number(choices: &mut Unstructured<'_>) -> Result<i64> {
    let limit = 1 << 53;
    let bits = choices.int_in_range(0..=53)?;
    Ok(choices.int_in_range(-limit..=limit)? >> bits)
}
