//! The deliveries that everything is measured on.

use article_webhook::fixture::{self, DeliveryRequest};

/// How many distinct bodies take turns. A single one, repeated, would train the branch predictor
/// until it knows the article by heart, and flatter everyone.
const BODIES: u64 = 64;

/// Distinct articles of about `bytes` bytes of HTML.
pub(crate) fn posts(bytes: usize, text: Text) -> Vec<DeliveryRequest> {
    let post = |seed| {
        let post = fixture::generated(seed, bytes);
        let body = text.write(post.bytes());
        post.body(body)
    };
    (0..BODIES).map(post).collect()
}

/// What an article is written in, and how the sender's JSON library writes that.
#[derive(Clone, Copy)]
pub(crate) enum Text {
    /// One word in sixteen is not ASCII; nothing is escaped that need not be.
    ManyScripts,
    /// All ASCII. The parsers' checks of UTF-8, in which they differ most, have next to nothing
    /// to do.
    English,
    /// Many scripts, with `<`, `>` and `&` escaped as for use inside a script element.
    EscapedMarkup,
    /// Many scripts, with everything outside ASCII escaped, in surrogate pairs where it takes two.
    EscapedUnicode,
}

impl Text {
    #[allow(dead_code)] // not every bench takes them all
    pub(crate) const ALL: [Self; 4] =
        [Self::ManyScripts, Self::English, Self::EscapedMarkup, Self::EscapedUnicode];

    #[allow(dead_code)] // the same
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ManyScripts => "many scripts",
            Self::English => "English",
            Self::EscapedMarkup => "< > & escaped",
            Self::EscapedUnicode => "non-ASCII escaped",
        }
    }

    /// The characters concerned stand only inside strings, so the body may be rewritten as it is.
    fn write(self, body: &[u8]) -> String {
        let mut text = String::with_capacity(body.len());
        for c in str::from_utf8(body).expect("a fixture is text").chars() {
            match self {
                Self::English if !c.is_ascii() => text.push('e'),
                Self::EscapedMarkup if matches!(c, '<' | '>' | '&') => escape(c, &mut text),
                Self::EscapedUnicode if !c.is_ascii() => escape(c, &mut text),
                _ => text.push(c),
            }
        }
        text
    }
}

fn escape(c: char, text: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}
