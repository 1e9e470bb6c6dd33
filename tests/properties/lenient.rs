//! A second opinion on what is repaired: a recursive parser of JSON and of what senders get wrong in it. It shares no
//! line with the core, whose repair knows no grammar.

use serde_json::Value;

/// How deep the parser follows: deeper than any body that is let in.
const DEEPEST: usize = 128;

/// The body as strict JSON, written again. `None` if it is no JSON, or if a name or the job id would have to change.
pub(super) fn rewrite(body: &[u8]) -> Option<String> {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut parser = Parser { text, written: String::new(), path: Vec::new() };
    parser.value()?;
    parser.blank();
    parser.text.is_empty().then_some(parser.written)
}

struct Parser<'a> {
    text: &'a [u8],
    written: String,
    /// A name for each open object, and an empty one for each open array.
    path: Vec<String>,
}

impl<'a> Parser<'a> {
    fn value(&mut self) -> Option<()> {
        self.blank();
        match *self.text.first()? {
            b'{' => self.list('{', '}', |parser| {
                parser.blank();
                let name = parser.string_as_it_is()?;
                parser.blank();
                parser.take(b':')?;
                parser.written.push(':');
                *parser.path.last_mut()? = name;
                parser.value()
            }),
            b'[' => self.list('[', ']', Self::value),
            b'"' if self.is_job_id() => self.string_as_it_is().map(drop),
            b'"' => self.string(),
            _ => self.word(),
        }
    }

    fn is_job_id(&self) -> bool {
        self.path.first().is_some_and(|name| name == "job_id")
    }

    fn list(
        &mut self,
        open: char,
        close: char,
        mut entry: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open as u8)?;
        self.written.push(open);
        self.path.push(String::new());
        let deep_enough = self.path.len() <= DEEPEST;
        deep_enough.then_some(())?;
        self.blank();
        if self.text.first() != Some(&(close as u8)) {
            loop {
                entry(self)?;
                self.blank();
                if self.take(b',').is_none() {
                    break;
                }
                self.written.push(',');
            }
        }
        self.take(close as u8)?;
        self.written.push(close);
        self.path.pop();
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let ends = |byte: &u8| b"{}[]:,\" \t\r\n".contains(byte);
        let length = self.text.iter().position(ends).unwrap_or(self.text.len());
        let word = str::from_utf8(self.text.get(..length)?).ok()?;
        self.text = &self.text[length..];
        match word {
            "NaN" | "Infinity" | "-Infinity" if !self.is_job_id() => self.written.push_str("null"),
            "" => return None,
            _ => {
                serde_json::from_str::<Value>(word).ok()?;
                self.written.push_str(word);
            }
        }
        Some(())
    }

    /// The bytes up to the quote that ends the string, with both quotes.
    fn raw_string(&mut self) -> Option<&'a [u8]> {
        (self.text.first() == Some(&b'"')).then_some(())?;
        let mut escaped = false;
        let end = self.text.iter().skip(1).position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let (raw, rest) = self.text.split_at(end + 2);
        self.text = rest;
        Some(raw)
    }

    /// A string that must be strict, and what it says.
    fn string_as_it_is(&mut self) -> Option<String> {
        let raw = self.raw_string()?;
        let text = serde_json::from_slice(raw).ok()?;
        self.written.push_str(str::from_utf8(raw).ok()?);
        Some(text)
    }

    /// A string that may be repaired: read as UTF-16, in which half of a pair is a unit like any other.
    fn string(&mut self) -> Option<()> {
        let raw = self.raw_string()?;
        let raw = &raw[1..raw.len() - 1];
        let mut units = Vec::new();
        // A run of raw bytes that are no characters becomes one.
        let mut in_run = false;
        for chunk in raw.utf8_chunks() {
            let mut characters = chunk.valid().chars();
            while let Some(c) = characters.next() {
                let is_none = c < ' ' && !matches!(c, '\t' | '\n' | '\r');
                match c {
                    '\\' => units.push(escape(&mut characters)?),
                    _ if is_none && in_run => {}
                    _ if is_none => units.push(0xfffd),
                    _ => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
                }
                in_run = is_none;
            }
            if !chunk.invalid().is_empty() {
                if !in_run {
                    units.push(0xfffd);
                }
                in_run = true;
            }
        }
        let text = String::from_utf16_lossy(&units);
        self.written.push_str(&serde_json::to_string(&text).ok()?);
        Some(())
    }

    fn blank(&mut self) {
        let blank = |byte: &u8| !b" \t\r\n".contains(byte);
        let length = self.text.iter().position(blank).unwrap_or(self.text.len());
        self.text = &self.text[length..];
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.text = self.text.strip_prefix(&[byte])?;
        Some(())
    }
}

fn escape(characters: &mut std::str::Chars<'_>) -> Option<u16> {
    let unit = match characters.next()? {
        c @ ('"' | '\\' | '/') => c as u16,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'u' => {
            let mut unit = 0;
            for _ in 0..4 {
                unit = unit * 16 + characters.next()?.to_digit(16)?;
            }
            u16::try_from(unit).ok()?
        }
        _ => return None,
    };
    Some(unit)
}
