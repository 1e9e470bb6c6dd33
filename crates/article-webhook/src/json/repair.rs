//! Makes strict JSON of a body that is JSON but for what senders are known to get wrong.
//!
//! One pass over the bytes knows strings, brackets and words, and no grammar: the strict parser checks afterwards what
//! the pass leaves as it is. A text that the strict parser accepts has the strings that the pass saw, so a value
//! cannot be taken for a name.

use std::fmt;

use super::limits::MAX_DEPTH;

/// What was repaired in a body that is not well-formed JSON. The bytes of the body stay as they came; only what is
/// decoded is repaired.
///
/// The job id and the names of members are never repaired, because two different ones could become equal.
///
/// ```
/// use article_webhook::{ArticleResult, Difference, Repair};
///
/// // Half of an emoji, as JavaScript leaves it when it cuts a text at a length.
/// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "Run \ud83c", "html": ""}}"#;
/// let (result, drift) = ArticleResult::from_json_with_drift(body)?;
/// assert_eq!(result.article.title, "Run \u{fffd}");
/// assert_eq!(drift[0].difference, Difference::Repaired(Repair::LoneSurrogate));
/// assert_eq!(drift[0].to_string(), "article.title: repaired, a lone surrogate");
///
/// let body = br#"{"job_id": "job_\ud83c", "status": "complete", "article": {"title": "Run", "html": ""}}"#;
/// assert!(ArticleResult::from_json(body).is_err());
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // later versions may repair more
pub enum Repair {
    /// A byte order mark before the JSON was skipped.
    ByteOrderMark,
    /// An escape for half of a surrogate pair, such as `\ud83c`, became U+FFFD.
    LoneSurrogate,
    /// Raw control characters in a string. Tab, line feed and carriage return stay; a run of others became U+FFFD.
    ControlCharacter,
    /// Bytes in a string that are not UTF-8: a run of them became U+FFFD.
    InvalidUtf8,
    /// `NaN`, `Infinity` or `-Infinity` became `null`.
    NotANumber,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "a byte order mark",
            Self::LoneSurrogate => "a lone surrogate",
            Self::ControlCharacter => "a control character that is not escaped",
            Self::InvalidUtf8 => "bytes that are not UTF-8",
            Self::NotANumber => "NaN or Infinity",
        })
    }
}

/// One value that was repaired.
pub(crate) struct RepairAt {
    /// As [`MalformedJson::path`](super::MalformedJson::path).
    pub(crate) path: String,
    /// `None`: there are more repairs than are named.
    pub(crate) repair: Option<Repair>,
}

/// The strict JSON that is read in place of a body that is not well-formed, for a program that reads stored bodies
/// by itself. `None` if there is nothing to repair: the body is well-formed, or stays refused.
///
/// At most two and a half times as long as the body. It may still not be well-formed, for another reason.
#[must_use]
pub fn repair(body: &[u8]) -> Option<Vec<u8>> {
    repair_at(body).map(|(repaired, _)| repaired)
}

pub(super) fn repair_at(body: &[u8]) -> Option<(Vec<u8>, Vec<RepairAt>)> {
    // The first pass only counts, so that the copy takes no more memory than it needs.
    let mut counted = Rewriter::new(body, None);
    counted.run(usize::MAX);
    if counted.repairs.is_empty() {
        return None;
    }
    let mut rewriter = Rewriter::new(body, Some(Vec::with_capacity(counted.written)));
    rewriter.run(usize::MAX);
    Some((rewriter.copy?, rewriter.repairs))
}

/// The path to the value that ends at `offset` of the repaired copy, and where it stands in the body itself.
pub(super) fn locate(body: &[u8], offset: usize) -> (String, usize) {
    let mut rewriter = Rewriter::new(body, None);
    rewriter.run(offset);
    let (from, to) = rewriter.last;
    let at = if rewriter.written < offset {
        rewriter.at + (offset - rewriter.written)
    } else {
        (from + offset.saturating_sub(to)).min(rewriter.at)
    };
    (rewriter.path(), at.min(body.len()))
}

/// How many repairs of a body are named.
const MAX_NAMED: usize = 64;

/// How long a path may be, in bytes.
const LONGEST_PATH: usize = 128;

struct Rewriter<'a> {
    body: &'a [u8],
    /// The next byte of the body.
    at: usize,
    /// Where the last token begins in the body and in the copy.
    last: (usize, usize),
    written: usize,
    /// The copy itself, where it is wanted.
    copy: Option<Vec<u8>>,
    open: Vec<Container<'a>>,
    in_job_id: bool,
    /// The last thing written stands for what was no character.
    in_run: bool,
    repairs: Vec<RepairAt>,
}

enum Container<'a> {
    Object { name: &'a [u8], expects_name: bool },
    Array { index: usize },
}

impl<'a> Rewriter<'a> {
    fn new(body: &'a [u8], copy: Option<Vec<u8>>) -> Self {
        let mut rewriter = Self {
            body,
            at: 0,
            last: (0, 0),
            written: 0,
            copy,
            open: Vec::new(),
            in_job_id: false,
            in_run: false,
            repairs: Vec::new(),
        };
        if body.starts_with(b"\xef\xbb\xbf") {
            rewriter.at = 3;
            rewriter.record(Repair::ByteOrderMark);
        }
        rewriter
    }

    /// Reads on until so much is written. A bracket that would close a value there is left, so that the path is the
    /// value's.
    fn run(&mut self, until: usize) {
        while let Some(&next) = self.body.get(self.at) {
            let closes = matches!(next, b'}' | b']');
            if self.written + usize::from(closes) >= until {
                return;
            }
            self.last = (self.at, self.written);
            self.token(next);
        }
    }

    fn token(&mut self, first: u8) {
        match first {
            b'"' => return self.string(),
            b'{' => return self.enter(Container::Object { name: b"", expects_name: true }),
            b'[' => return self.enter(Container::Array { index: 0 }),
            b'}' | b']' => drop(self.open.pop()),
            b':' => {
                if let Some(Container::Object { expects_name, .. }) = self.open.last_mut() {
                    *expects_name = false;
                }
            }
            b',' => match self.open.last_mut() {
                Some(Container::Object { expects_name, .. }) => *expects_name = true,
                Some(Container::Array { index }) => *index += 1,
                None => {}
            },
            _ if first.is_ascii_whitespace() => {}
            _ => return self.word(),
        }
        self.keep(1);
    }

    fn enter(&mut self, container: Container<'a>) {
        if self.open.len() >= usize::from(MAX_DEPTH) {
            // Nothing that follows can make it well-formed.
            return self.keep(self.body.len() - self.at);
        }
        self.open.push(container);
        self.keep(1);
    }

    fn word(&mut self) {
        let ends = |byte: &u8| b"\"{}[]:,".contains(byte) || byte.is_ascii_whitespace();
        let rest = &self.body[self.at..];
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let is_no_number = matches!(&rest[..length], b"NaN" | b"Infinity" | b"-Infinity");
        if is_no_number && !self.is_identity() {
            self.write(b"null");
            self.at += length;
            self.record(Repair::NotANumber);
        } else {
            self.keep(length);
        }
    }

    /// Whether the next value is a name, or belongs to the job id.
    fn is_identity(&self) -> bool {
        let is_name =
            matches!(self.open.last(), Some(Container::Object { expects_name: true, .. }));
        is_name || self.in_job_id
    }

    fn string(&mut self) {
        let length = string_length(&self.body[self.at..]);
        let text = &self.body[self.at..self.at + length];
        let is_top = self.open.len() == 1;
        match self.open.last_mut() {
            Some(Container::Object { name, expects_name: true }) => {
                *name = text;
                if is_top {
                    self.in_job_id = read_name(text) == "job_id";
                }
                self.keep(length);
            }
            _ if self.in_job_id => self.keep(length),
            _ => self.value(text),
        }
    }

    /// A string that is a value, with its quotes.
    fn value(&mut self, text: &[u8]) {
        let mut found = [None; 3];
        for chunk in text.utf8_chunks() {
            self.characters(chunk.valid().as_bytes(), &mut found);
            if !chunk.invalid().is_empty() {
                self.replace_run();
                found[2] = Some(Repair::InvalidUtf8);
            }
        }
        self.in_run = false;
        self.at += text.len();
        found.into_iter().flatten().for_each(|repair| self.record(repair));
    }

    fn characters(&mut self, mut text: &[u8], found: &mut [Option<Repair>; 3]) {
        while let Some(&first) = text.first() {
            let is_special = |&byte: &u8| byte == b'\\' || byte < b' ';
            let mut length = text.iter().position(is_special).unwrap_or(text.len());
            if length > 0 {
                self.write(&text[..length]);
                self.in_run = false;
            } else if first == b'\\' {
                length = escape_length(text);
                if is_lone_surrogate(&text[..length]) {
                    self.write(br"\ufffd");
                    found[0] = Some(Repair::LoneSurrogate);
                } else {
                    self.write(&text[..length]);
                }
                self.in_run = false;
            } else {
                length = 1;
                match first {
                    b'\t' => self.write_escape(br"\t"),
                    b'\n' => self.write_escape(br"\n"),
                    b'\r' => self.write_escape(br"\r"),
                    _ => self.replace_run(),
                }
                found[1] = Some(Repair::ControlCharacter);
            }
            text = &text[length..];
        }
    }

    fn write_escape(&mut self, escape: &[u8]) {
        self.write(escape);
        self.in_run = false;
    }

    /// One U+FFFD for a run, so that the copy stays about as long as the body.
    fn replace_run(&mut self) {
        if !self.in_run {
            self.write("\u{fffd}".as_bytes());
            self.in_run = true;
        }
    }

    fn keep(&mut self, length: usize) {
        let end = self.at + length;
        self.write(&self.body[self.at..end]);
        self.at = end;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.written += bytes.len();
        if let Some(copy) = &mut self.copy {
            copy.extend_from_slice(bytes);
        }
    }

    fn record(&mut self, repair: Repair) {
        if self.repairs.len() < MAX_NAMED {
            self.repairs.push(RepairAt { path: self.path(), repair: Some(repair) });
        } else if self.repairs.len() == MAX_NAMED {
            self.repairs.push(RepairAt { path: String::new(), repair: None });
        }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for container in &self.open {
            match container {
                Container::Object { name: b"", .. } => {}
                Container::Object { name, .. } => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&read_name(name));
                }
                Container::Array { index } => path.push_str(&format!("[{index}]")),
            }
            if path.len() > LONGEST_PATH {
                path.truncate(
                    (0..=LONGEST_PATH).rfind(|&end| path.is_char_boundary(end)).unwrap_or(0),
                );
                path.push('…');
                break;
            }
        }
        path
    }
}

/// The length of the string at the start of `text`, with its quotes. One that does not end reaches to the end.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) =
        text.get(at..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'\\')))
    {
        at += found;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// The length of the escape at the start of `text`: a pair of surrogates is one.
fn escape_length(text: &[u8]) -> usize {
    match (code_unit(text), code_unit(text.get(6..).unwrap_or_default())) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
        (Some(_), _) => 6,
        (None, _) => text.len().min(2),
    }
}

fn is_lone_surrogate(escape: &[u8]) -> bool {
    escape.len() == 6 && matches!(code_unit(escape), Some(0xd800..=0xdfff))
}

/// The value of an escape such as `\u00e9`.
fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..6)?.strip_prefix(br"\u")?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A name as the strict parser reads it. One that it refuses, or that is longer than any path, is shown as it came.
fn read_name(quoted: &[u8]) -> String {
    if quoted.len() <= LONGEST_PATH
        && let Ok(name) = serde_json::from_slice(quoted)
    {
        return name;
    }
    let start = &quoted[..quoted.len().min(LONGEST_PATH + 2)];
    String::from_utf8_lossy(start).trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(body: &[u8]) -> Option<String> {
        repair(body).map(|repaired| String::from_utf8(repaired).unwrap())
    }

    #[test]
    fn what_senders_get_wrong_becomes_strict_json() {
        for (body, strict) in [
            (&b"\xef\xbb\xbf{}"[..], "{}"),
            (b"[\"a\\ud83c\"]", r#"["a\ufffd"]"#),
            (b"[\"\\udfc3\\ud83c\"]", r#"["\ufffd\ufffd"]"#),
            (b"[\"\\ud83c\\ud83c\\udfc3\"]", r#"["\ufffd\ud83c\udfc3"]"#),
            (b"[\"\\uD83Cx\\\\udfc3\"]", r#"["\ufffdx\\udfc3"]"#),
            (b"[\"a\tb\nc\rd\"]", r#"["a\tb\nc\rd"]"#),
            (b"[\"\x00\x1f\x1b[0m\"]", "[\"\u{fffd}[0m\"]"),
            (b"[\"caf\xe9 \xed\xa0\xbc\xed\xbf\x83\"]", "[\"caf\u{fffd} \u{fffd}\"]"),
            (b"[\"\xf0\x9f\x8f\"]", "[\"\u{fffd}\"]"),
            (b"[NaN,Infinity, -Infinity]", "[null,null, null]"),
            (b"{\"a\":NaN}", r#"{"a":null}"#),
            (b"{\"article\":{\"job_id\":\"\xff\"}}", "{\"article\":{\"job_id\":\"\u{fffd}\"}}"),
        ] {
            assert_eq!(repaired(body).as_deref(), Some(strict), "{strict}");
        }
    }

    #[test]
    fn a_copy_is_at_most_two_and_a_half_times_as_long() {
        for piece in
            [&b"\xff"[..], b"\x00", b"\t", b"\xffa", b"\x00\xff", b"\xff\\ud83c", b"\n\x01"]
        {
            let body = [b"[\"", &piece.repeat(1000)[..], b"\"]"].concat();
            let copy = repair(&body).unwrap();
            assert!(2 * copy.len() <= 5 * body.len(), "{piece:?}: {}", copy.len());
            assert_eq!(copy.len(), copy.capacity());
        }
        let numbers = [b"[", &b"NaN,".repeat(1000)[..], b"0]"].concat();
        assert_eq!(repair(&numbers).unwrap().len(), 5003);
    }

    #[test]
    fn the_first_64_repairs_are_named_and_then_it_is_reported_that_there_are_more() {
        for (repairs, count) in [(1, 1), (64, 64), (65, 65), (1000, 65)] {
            let body = [b"[", &b"NaN,".repeat(repairs)[..], b"0]"].concat();
            let (_, named) = repair_at(&body).unwrap();
            assert_eq!(named.len(), count);
            assert_eq!(
                (named[0].path.as_str(), named[0].repair),
                ("[0]", Some(Repair::NotANumber))
            );
            assert_eq!(named[count - 1].repair.is_none(), count == 65);
        }
    }
}
