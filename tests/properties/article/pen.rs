use std::fmt::Write;

use arbitrary::Unstructured;

/// Writes JSON in every way that it allows, as the bytes choose.
pub(super) struct Pen<'a>(Unstructured<'a>);

impl<'a> Pen<'a> {
    pub(super) fn new(choices: Unstructured<'a>) -> Self {
        Self(choices)
    }

    /// One of `ways` ways; the first when the choices have run out.
    fn way(&mut self, ways: u8) -> u8 {
        self.0.int_in_range(0..=ways - 1).unwrap_or(0)
    }

    pub(super) fn text(&mut self, text: &str) -> String {
        let mut written = String::from('"');
        // A choice for each text, as one for each character would use them up.
        let way = self.way(4);
        for (place, c) in text.chars().enumerate() {
            match c {
                '"' => written.push_str("\\\""),
                '\\' => written.push_str(r"\\"),
                '/' if way == 1 => written.push_str(r"\/"),
                '\n' if way == 1 => written.push_str(r"\n"),
                '\u{c}' if way == 1 => written.push_str(r"\f"),
                c if c < ' ' || way == 2 || (way == 3 && place % 3 == 0) => escape(c, &mut written),
                c => written.push(c),
            }
        }
        written + "\""
    }

    /// With a point or an exponent, `serde_json` reads an integer of up to 15 digits exactly.
    pub(super) fn number(&mut self, number: i64) -> String {
        let exact = number.abs() < 100_000_000_000_000;
        match if exact { self.way(5) } else { 0 } {
            1 => format!("{number}.0"),
            2 => format!("{number}e0"),
            3 if number != 0 => format!("{number}0E-1"),
            4 if number % 100 == 0 => format!("{}e+02", number / 100),
            _ => number.to_string(),
        }
    }

    /// Posts are texts, or objects that have one; no posts are an empty array, null or nothing.
    pub(super) fn posts(&mut self, posts: &[String]) -> Option<String> {
        match (posts, self.way(3)) {
            ([], 0) => return None,
            ([], 1) => return Some("null".into()),
            _ => {}
        }
        let names = ["text", "content", "body", "post"];
        let posts = posts.iter().map(|text| {
            let written = self.text(text);
            match names.get(usize::from(self.way(5))) {
                Some(name) => self.object([(name, Some(written)), ("media", None)]),
                None => written,
            }
        });
        let posts: Vec<_> = posts.collect();
        Some(self.enclose('[', &posts, ']'))
    }

    /// An object with its fields in some order. What has no value is null or not there.
    pub(super) fn object<const FIELDS: usize>(
        &mut self,
        mut fields: [(&str, Option<String>); FIELDS],
    ) -> String {
        let turn = usize::from(self.way(8)) % FIELDS;
        fields.rotate_left(turn);
        let mut entries = Vec::new();
        for (name, value) in fields {
            let value = match (value, self.way(3)) {
                (Some(value), _) => value,
                (None, 1) => "null".into(),
                (None, _) => continue,
            };
            entries.push(self.entry(name, &value));
        }
        if self.way(4) == 1 {
            let value = ["7", "[[]]", r#"{"title":""}"#][usize::from(self.way(3))];
            entries.push(self.entry("new", value));
        }
        self.enclose('{', &entries, '}')
    }

    fn entry(&mut self, name: &str, value: &str) -> String {
        let colon = [":", " : ", ":\n\t"][usize::from(self.way(3))];
        [&self.text(name), colon, value].concat()
    }

    fn enclose(&mut self, open: char, parts: &[String], close: char) -> String {
        let comma = [",", " ,", ",\r\n"][usize::from(self.way(3))];
        let blank = ["", " ", "\n"][usize::from(self.way(3))];
        format!("{open}{blank}{}{blank}{close}", parts.join(comma))
    }
}

/// As UTF-16, in which some characters need two escapes.
fn escape(c: char, written: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a String cannot fail.
        let _ = write!(written, "\\u{unit:04x}");
    }
}
