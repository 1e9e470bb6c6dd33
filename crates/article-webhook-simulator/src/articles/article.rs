use bytes::Bytes;
use fastrand::Rng;

use super::{
    ArticleSpec, Length,
    page::{Page, inside_json},
    phrases::{ENDINGS, LONGEST_SENTENCE, PREDICATES, Phrase, SUBJECTS, WORDS},
};

/// The most words and bytes of an element.
const LARGEST_BLOCK: [usize; 2] = [250, 1500];

/// The most characters of a title.
const LONGEST_TITLE: usize = 120;

/// The result of a job as JSON, with the fields in the order of the service document, section 2.1: the response to a
/// call for the job, and the body of a delivery. Social posts are strings, because their shape is not documented.
///
/// ```
/// use article_webhook_simulator::articles::{ArticleSpec, generate};
///
/// let body = generate(7, &ArticleSpec::new("job_1", ""));
/// assert!(body.starts_with(br#"{"job_id":"job_1","status":"complete","article":{"title":""#));
/// ```
#[must_use]
pub fn generate(seed: u64, spec: &ArticleSpec<'_>) -> Bytes {
    let mut dice = Rng::with_seed(seed);
    let title = title(spec.topic, &mut dice);
    let rest = rest(seed, spec, &title, &mut dice);
    let goal = match spec.length {
        Length::Drawn => Goal::Words(dice.usize(500..=3000)),
        Length::Words(words) => Goal::Words(words),
        Length::Bytes(bytes) => Goal::Bytes(bytes.saturating_sub(rest.around())),
    };
    let estimate = if let Goal::Bytes(bytes) = goal { bytes } else { 20_000 };
    let mut page = Page::new(Vec::with_capacity(estimate + rest.around()), dice);
    let (job_id, json_title) = (inside_json(spec.job_id), inside_json(&title));
    page.markup(r#"{"job_id":""#);
    page.markup(&job_id);
    page.markup(r#"","status":"complete","article":{"title":""#);
    page.markup(&json_title);
    page.markup(r#"","html":""#);
    write(&mut page, &title, goal);
    page.markup(&rest.before_words);
    page.markup(&page.words.to_string());
    page.markup(&rest.after_words);
    page.json.into()
}

/// The text after the HTML. It is generated first, so that its length is known.
struct Rest {
    before_words: String,
    after_words: String,
}

impl Rest {
    fn around(&self) -> usize {
        let digits_of_words = 7;
        self.before_words.len() + self.after_words.len() + digits_of_words
    }
}

fn rest(seed: u64, spec: &ArticleSpec<'_>, title: &str, dice: &mut Rng) -> Rest {
    let meta_title = inside_json(&title.chars().take(60).collect::<String>());
    let meta_description = sentence(dice);
    let score = dice.u8(60..100);
    let (base, alt) = (inside_json(spec.image_base), sentence(dice));
    let mut posts = || format!(r#""{}","{}""#, sentence(dice), sentence(dice));
    let (linkedin, x) = (posts(), posts());
    let credits = spec.credits_used;
    Rest {
        before_words: format!(
            r#"","meta_title":"{meta_title}","meta_description":"{meta_description}","eeat_score":{score},"word_count":"#
        ),
        after_words: format!(
            r#"}},"featured_image":{{"url":"{base}/{seed}.png","alt_text":"{alt}"}},"social_posts":{{"linkedin":[{linkedin}],"x":[{x}]}},"credits_used":{credits}}}"#
        ),
    }
}

/// The length to reach: words of HTML, or bytes up to the end of the HTML.
#[derive(Clone, Copy)]
enum Goal {
    Words(usize),
    Bytes(usize),
}

impl Goal {
    /// Whether this number of words and bytes can still be added.
    fn has_room_for(self, page: &Page, [words, bytes]: [usize; 2]) -> bool {
        match self {
            Self::Words(goal) => page.words + words <= goal,
            Self::Bytes(goal) => page.json.len() + bytes + r"</p>\n</article>".len() <= goal,
        }
    }
}

fn write(page: &mut Page, title: &str, goal: Goal) {
    page.markup(r"<article>\n<h1>");
    page.outside(title);
    page.markup(r"</h1>\n");
    metadata(page, title);
    while goal.has_room_for(page, LARGEST_BLOCK) {
        page.block();
    }
    page.markup("<p>");
    while goal.has_room_for(page, LONGEST_SENTENCE) {
        page.sentence();
        page.markup(" ");
    }
    loop {
        let word = page.draw(&WORDS);
        if !goal.has_room_for(page, [1, word.text.len() + 1]) {
            break;
        }
        page.phrase(word);
        page.markup(" ");
    }
    page.markup(r"</p>\n</article>");
}

/// A script with metadata for search engines. Its words do not count.
fn metadata(page: &mut Page, title: &str) {
    let headline = inside_json(title).replace('<', r"\u003c");
    page.markup(&inside_json(&format!(
        r#"<script type="application/ld+json">{{"@context":"https://schema.org","@type":"BlogPosting","headline":"{headline}"}}</script>"#
    )));
    page.markup(r"\n");
}

fn title(topic: &str, dice: &mut Rng) -> String {
    let topic = topic.trim();
    if topic.is_empty() {
        let mut draw = |phrases: &[Phrase]| phrases[dice.usize(..phrases.len())].text;
        [draw(&SUBJECTS), " ", draw(&PREDICATES)].concat()
    } else {
        topic.chars().take(LONGEST_TITLE).collect()
    }
}

fn sentence(dice: &mut Rng) -> String {
    let mut draw = |phrases: &[Phrase]| phrases[dice.usize(..phrases.len())].text;
    [draw(&SUBJECTS), " ", draw(&PREDICATES), " ", draw(&ENDINGS)].concat()
}
