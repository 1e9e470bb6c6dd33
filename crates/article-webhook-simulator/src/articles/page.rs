use fastrand::Rng;

use super::phrases::{ENDINGS, HEADINGS, PREDICATES, Phrase, SUBJECTS, TERMS};

/// HTML that is written directly as the inside of a JSON string, without a second escaping or copying.
///
/// Elements are separated by line breaks, so that words stay separate when tags are removed.
pub(super) struct Page {
    pub(super) json: Vec<u8>,
    pub(super) words: usize,
    dice: Rng,
}

impl Page {
    pub(super) fn new(json: Vec<u8>, dice: Rng) -> Self {
        Self { json, words: 0, dice }
    }

    /// Markup that is already escaped for JSON.
    pub(super) fn markup(&mut self, markup: &str) {
        self.json.extend_from_slice(markup.as_bytes());
    }

    pub(super) fn phrase(&mut self, phrase: Phrase) {
        self.markup(phrase.text);
        self.words += phrase.words;
    }

    /// A text from outside, such as a topic.
    pub(super) fn outside(&mut self, text: &str) {
        let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.markup(&inside_json(&html));
        self.words += text.split_whitespace().count();
    }

    pub(super) fn draw(&mut self, phrases: &[Phrase]) -> Phrase {
        phrases[self.dice.usize(..phrases.len())]
    }

    fn drawn(&mut self, phrases: &[Phrase]) {
        let phrase = self.draw(phrases);
        self.phrase(phrase);
    }

    fn number(&mut self) {
        let number = self.dice.u32(1..1000);
        self.markup(&number.to_string());
    }

    pub(super) fn sentence(&mut self) {
        self.drawn(&SUBJECTS);
        self.markup(" ");
        self.drawn(&PREDICATES);
        self.markup(" ");
        self.drawn(&ENDINGS);
    }

    /// An element within the limits of `LARGEST_BLOCK`.
    pub(super) fn block(&mut self) {
        match self.dice.u8(..12) {
            0 | 1 => self.heading(),
            2 => self.list("ul"),
            3 => self.list("ol"),
            4 => self.table(),
            5 => self.quote(),
            6 => self.link(),
            _ => self.paragraph(),
        }
    }

    fn heading(&mut self) {
        self.markup(r#"<h2 id=\"part-"#);
        self.number();
        self.markup(r#"\">"#);
        self.drawn(&HEADINGS);
        self.markup(r"</h2>\n");
    }

    pub(super) fn paragraph(&mut self) {
        self.markup("<p>");
        for _ in 0..self.dice.u8(3..8) {
            self.sentence();
            self.markup(" ");
        }
        self.markup(r"</p>\n");
    }

    fn list(&mut self, tag: &str) {
        self.markup("<");
        self.markup(tag);
        self.markup(r#" class=\"advice\">\n"#);
        for _ in 0..self.dice.u8(3..6) {
            self.markup(r"\t<li>");
            self.sentence();
            self.markup(r"</li>\n");
        }
        self.markup("</");
        self.markup(tag);
        self.markup(r">\n");
    }

    fn table(&mut self) {
        self.markup(r"<table>\n");
        for cell in ["th", "td", "td", "td"] {
            self.markup("<tr>");
            for _ in 0..3 {
                self.markup("<");
                self.markup(cell);
                self.markup(">");
                self.drawn(&TERMS);
                self.markup("</");
                self.markup(cell);
                self.markup("> ");
            }
            self.markup(r"</tr>\n");
        }
        self.markup(r"</table>\n");
    }

    fn quote(&mut self) {
        self.markup(r#"<blockquote cite=\"https://example.com/interviews/"#);
        self.number();
        self.markup(r#"\"><p>\""#);
        self.sentence();
        self.markup(r#"\"</p></blockquote>\n"#);
    }

    fn link(&mut self) {
        self.markup("<p>");
        self.sentence();
        self.markup(r#" <a href=\"https://example.com/guide?part="#);
        self.number();
        self.markup(r#"&amp;from=article\" rel=\"nofollow\">"#);
        self.drawn(&HEADINGS);
        self.markup("</a> <em>");
        self.sentence();
        self.markup(r"</em></p>\n");
    }
}

/// A text as it is written between the quotes of a JSON string.
pub(super) fn inside_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
