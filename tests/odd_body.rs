//! What senders are known to get wrong in a body, each made of a sound article.

use std::fmt;

/// What is odd about a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OddBody {
    /// Half of an emoji, as JavaScript leaves it when it cuts a text at a length.
    LoneSurrogate,
    /// A byte order mark before the object.
    ByteOrderMark,
    /// `NaN`, as Python writes it.
    NotANumber,
    /// A byte in a string that is not UTF-8.
    InvalidUtf8,
    /// A raw control character in a string.
    ControlCharacter,
    /// Another word for `complete`.
    Synonym,
    /// A word that no version knows.
    UnknownStatus,
    /// No status at all.
    NoStatus,
    /// The second half is missing.
    Truncated,
    /// Something behind the object.
    TrailingBytes,
    /// A proxy's page.
    Page,
    /// The article has two titles.
    KeyTwice,
    /// It names another job than the header, or than was asked for.
    OtherJob,
    /// An article, and a status that says that its job has failed.
    FailedArticle,
    /// Well-formed JSON about the job, and no article.
    NotAnArticle,
}

impl OddBody {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::LoneSurrogate,
        Self::ByteOrderMark,
        Self::NotANumber,
        Self::InvalidUtf8,
        Self::ControlCharacter,
        Self::Synonym,
        Self::UnknownStatus,
        Self::NoStatus,
        Self::Truncated,
        Self::TrailingBytes,
        Self::Page,
        Self::KeyTwice,
        Self::OtherJob,
        Self::FailedArticle,
        Self::NotAnArticle,
    ];

    /// Whether a delivery of it is an article all the same.
    pub fn is_article(self) -> bool {
        use OddBody::{
            ByteOrderMark, ControlCharacter, InvalidUtf8, LoneSurrogate, NoStatus, NotANumber,
            Synonym, UnknownStatus,
        };
        matches!(
            self,
            LoneSurrogate
                | ByteOrderMark
                | NotANumber
                | InvalidUtf8
                | ControlCharacter
                | Synonym
                | UnknownStatus
                | NoStatus
        )
    }

    /// Whether it is kept in quarantine, delivered or polled.
    pub fn is_quarantined(self) -> bool {
        !self.is_article() && self != Self::NotAnArticle
    }

    /// The body, made of that of an article, which is written without spaces.
    pub fn body(self, article: &[u8]) -> Vec<u8> {
        let before = |mark: &str, inserted: &[u8]| {
            let at = find(article, mark) + mark.len();
            [&article[..at], inserted, &article[at..]].concat()
        };
        let status = |status: &[u8]| {
            let from = find(article, STATUS);
            [&article[..from], status, &article[from + STATUS.len()..]].concat()
        };
        match self {
            Self::LoneSurrogate => before(TITLE, br"\ud83c"),
            Self::ByteOrderMark => [b"\xef\xbb\xbf", article].concat(),
            Self::NotANumber => status(br#""status":"complete","readability":NaN,"#),
            Self::InvalidUtf8 => before(TITLE, b"\xff"),
            Self::ControlCharacter => before(TITLE, b"\x01"),
            Self::Synonym => status(br#""status":"Completed","#),
            Self::UnknownStatus => status(br#""status":"published","#),
            Self::NoStatus => status(b""),
            Self::Truncated => article[..article.len() / 2].to_vec(),
            Self::TrailingBytes => [article, b"\n}"].concat(),
            Self::Page => b"<!doctype html><title>502 Bad Gateway</title>".to_vec(),
            Self::KeyTwice => before(TITLE, br#"","title":""#),
            Self::OtherJob => before(JOB_ID, b"other_"),
            Self::FailedArticle => status(br#""status":"failed","#),
            Self::NotAnArticle => {
                let end = find(article, STATUS) + STATUS.len();
                [&article[..end], br#""article":{"title":0}}"#].concat()
            }
        }
    }
}

const JOB_ID: &str = r#""job_id":""#;
const STATUS: &str = r#""status":"complete","#;
const TITLE: &str = r#""title":""#;

fn find(article: &[u8], mark: &str) -> usize {
    let mut windows = article.windows(mark.len());
    windows.position(|window| window == mark.as_bytes()).expect("an article has it")
}

impl fmt::Display for OddBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LoneSurrogate => "half an emoji",
            Self::ByteOrderMark => "a byte order mark",
            Self::NotANumber => "NaN",
            Self::InvalidUtf8 => "bytes that are not UTF-8 in a string",
            Self::ControlCharacter => "a raw control character in a string",
            Self::Synonym => "status `Completed`",
            Self::UnknownStatus => "status `published`",
            Self::NoStatus => "no status",
            Self::Truncated => "truncated",
            Self::TrailingBytes => "trailing bytes",
            Self::Page => "a page of HTML",
            Self::KeyTwice => "a key twice",
            Self::OtherJob => "the body names another job",
            Self::FailedArticle => "an article of a job that failed",
            Self::NotAnArticle => "no article",
        })
    }
}
