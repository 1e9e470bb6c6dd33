//! A request, as a text that a fuzzer can change: `POST default 16`, then a line a header,
//! an empty line, and the body.

use std::borrow::Cow;

use super::site::Site;

/// One request to a receiver. Whatever the bytes, there is one.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method, which may be none.
    pub method: &'a str,
    /// The receiver that it is sent to.
    pub site: Site,
    /// The body arrives in pieces of this number of bytes.
    pub piece: usize,
    /// The headers, of which a name or a value may be none.
    pub headers: Vec<(&'a [u8], Cow<'a, [u8]>)>,
    /// The body.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads the text. What the text lacks is added; a `Content-Length: auto` is the length.
    pub fn parse(text: &'a [u8]) -> Self {
        let end = text.windows(2).position(|pair| pair == b"\n\n");
        let (head, body) = end.map_or((text, &[][..]), |end| (&text[..end], &text[end + 2..]));
        let mut lines = head.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let mut words = str::from_utf8(first).unwrap_or_default().split(' ');
        let mut word = || words.next().unwrap_or_default();
        Self {
            method: word(),
            site: Site::named(word()),
            piece: word().parse().unwrap_or(usize::MAX).max(1),
            headers: lines.filter_map(|line| header(line, body)).collect(),
            body,
        }
    }

    /// All values of a header. Written apart from the code that is tested.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let mut found = Vec::new();
        for (own, value) in &self.headers {
            if own.eq_ignore_ascii_case(name.as_bytes()) {
                found.push(value.trim_ascii());
            }
        }
        found.into_iter()
    }

    /// Whether the sender proves to be the service: one `Authorization`, and it is a token.
    pub fn is_authentic(&self) -> bool {
        let mut presented = self.values("authorization");
        match (presented.next(), presented.next()) {
            (Some(one), None) => self.site.tokens().iter().any(|token| token.as_bytes() == one),
            _ => false,
        }
    }

    /// The body as it arrives.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> {
        self.body.chunks(self.piece)
    }
}

/// One space behind the colon is not part of the value; what else is there may be hostile.
fn header<'a>(line: &'a [u8], body: &[u8]) -> Option<(&'a [u8], Cow<'a, [u8]>)> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let value = value.strip_prefix(b" ").unwrap_or(value);
    let length = value == b"auto" && name.eq_ignore_ascii_case(b"Content-Length");
    let value =
        if length { Cow::Owned(body.len().to_string().into_bytes()) } else { Cow::Borrowed(value) };
    Some((name, value))
}
