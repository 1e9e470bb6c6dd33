use std::{borrow::Cow, cell::Cell};

use serde::de::{DeserializeSeed, Deserializer, Error};

use super::{
    Field, FromJson, MalformedJson, ObjectFields, RepairAt,
    limits::Limits,
    repair::{locate, repair_at},
    value_visitor::ValueVisitor,
};

/// Parses `body`, which must be one JSON object, after a [repair](super::repair) if it needs one.
///
/// Repair is tried only on a body that is not well-formed: a well-formed one is read once, in one way.
pub(crate) fn parse<F: ObjectFields>(body: &[u8]) -> Result<(F, Vec<RepairAt>), MalformedJson> {
    match parse_strictly(body) {
        Ok(fields) => Ok((fields, Vec::new())),
        Err(malformed) => parse_repaired(body, malformed),
    }
}

#[cold]
fn parse_repaired<F: ObjectFields>(
    body: &[u8],
    malformed: Malformed,
) -> Result<(F, Vec<RepairAt>), MalformedJson> {
    let Some((repaired, repairs)) = repair_at(body) else {
        return Err(malformed.locate(body));
    };
    match parse_strictly(&repaired) {
        Ok(fields) => Ok((fields, repairs)),
        Err(malformed) => Err(malformed.locate(body)),
    }
}

/// Why a text is not one JSON object, and after how many of its bytes.
struct Malformed {
    reason: Cow<'static, str>,
    offset: usize,
}

impl Malformed {
    /// The same, as it is reported for `body`: the text may be its repaired copy.
    fn locate(self, body: &[u8]) -> MalformedJson {
        let (path, offset) = locate(body, self.offset);
        MalformedJson::new(self.reason, path, &body[..offset])
    }
}

fn parse_strictly<F: ObjectFields>(body: &[u8]) -> Result<F, Malformed> {
    // serde_json would also check the UTF-8, but string by string and several times slower.
    let text = simdutf8::basic::from_utf8(body).map_err(|_| not_utf8(body))?;
    let mut json = serde_json::Deserializer::from_str(text);
    let kept = Cell::new(0);
    let value = ValueVisitor::<F>::new(Limits::new(&kept))
        .deserialize(&mut json)
        .and_then(|value| json.end().map(|()| value))
        .map_err(|error| not_json(&error, text))?;
    match value {
        Field::Value(object) => Ok(object),
        Field::Absent | Field::OtherKind(_) => {
            Err(Malformed { reason: "no object".into(), offset: 0 })
        }
    }
}

#[cold]
fn not_utf8(body: &[u8]) -> Malformed {
    let valid = std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len);
    Malformed { reason: "bytes that are not UTF-8".into(), offset: valid + 1 }
}

#[cold]
fn not_json(error: &serde_json::Error, text: &str) -> Malformed {
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let reason = error.to_string();
    let reason = match reason.rsplit_once(" at line ").map_or(&*reason, |(reason, _)| reason) {
        // Elsewhere these were repaired.
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "a lone surrogate in a name or in the job id".into()
        }
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a control character in a name or in the job id".into()
        }
        reason => reason.to_owned().into(),
    };
    Malformed { reason, offset: line_start + error.column() }
}

/// Reads a value that another deserializer holds, by the same rules: [`FromJson`] decides, and limits hold.
pub(crate) fn deserialize<'de, T: FromJson, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let kept = Cell::new(0);
    match ValueVisitor::<T>::new(Limits::new(&kept)).deserialize(deserializer)? {
        Field::Value(value) => Ok(value),
        Field::OtherKind(kind) => {
            Err(D::Error::custom(format_args!("expected {}, found {kind}", T::EXPECTED)))
        }
        Field::Absent => Err(D::Error::custom(format_args!("expected {}", T::EXPECTED))),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::object::tests::NoFields, *};

    fn refusal(body: &[u8]) -> Option<MalformedJson> {
        parse::<NoFields>(body).err()
    }

    #[test]
    fn a_malformed_body_is_refused_where_it_goes_wrong() {
        let refused_at = |body: &[u8]| {
            let malformed = refusal(body)?;
            Some((malformed.line(), malformed.column()))
        };
        assert_eq!(refused_at(b"\xff"), Some((1, 1)));
        assert_eq!(refused_at(b"{\"a\": \xff}"), Some((1, 7)));
        assert_eq!(refused_at(b"{\n\n \"a\": \xff,\n \"b\": 1}"), Some((3, 7)));
        // In bytes, so that the column does not depend on the characters before it.
        assert_eq!(refused_at("{\n\"é\": \"".as_bytes()), Some((2, 7)));
        assert_eq!(refused_at(b"{\n\"\xc3\xa9\": \xff}"), Some((2, 7)));
        assert_eq!(refused_at(b"[]"), Some((1, 0)));
        assert_eq!(refused_at(b"{}"), None);
    }

    #[test]
    fn a_refusal_says_why_and_where() {
        let nested = format!(r#"{{"a": {{"b": [0, {}1"#, "[".repeat(64));
        for (body, expected) in [
            (&b""[..], "EOF while parsing a value at line 1 column 0"),
            (b"[]", "no object at line 1 column 0"),
            (
                b"{\"a\": {\"b\": [0, {\"c\": tru}]}}",
                "expected ident at a.b[1].c, line 1 column 26",
            ),
            (b"{\"a\": 1, \"a\": 2}", "a key twice at a, line 1 column 16"),
            (
                b"{\"a\": 1, \"\\u0061\": {\"b\": 1} , \"c\": 1}",
                "a key twice at a, line 1 column 28",
            ),
            (b"{\"a\": [1, 2, }", "expected value at a[2], line 1 column 14"),
            (b"{\"a\": \"b\"} {}", "trailing characters at line 1 column 12"),
            (b"{\"a\": 1e999}", "number out of range at a, line 1 column 1"),
            (b"{\"a\": {\"b\": 1,}}", "trailing comma at a.b, line 1 column 15"),
            (b"{\"a\": \"b\\x\"}", "invalid escape at a, line 1 column 10"),
            (b"{\"\x1b[2J\": 1}", "a control character in a name or in the job id at"),
            (nested.as_bytes(), "nested deeper than 64 levels at a.b[1][0][0]"),
        ] {
            let found = refusal(body).unwrap().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn the_place_of_a_refusal_is_that_in_the_body_although_a_copy_was_repaired() {
        for (body, expected) in [
            (
                &b"\xef\xbb\xbf{\"a\": \"\xff\xff \t\", \"b\": NaN, \"b\": 1}"[..],
                "a key twice at b, line 1 column 34",
            ),
            (b"{\"a\": \"\n\",\n \"b\": tru}", "expected ident at b, line 3 column 10"),
            (
                b"{\"a\": \"\\ud83c\", \"\\udfc3\": 1}",
                "a lone surrogate in a name or in the job id at \\\\udfc3, line 1 column 23",
            ),
        ] {
            let found = refusal(body).unwrap().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_path_is_bounded_and_escaped() {
        let long = "x".repeat(1000);
        let path = refusal(format!(r#"{{"{long}": }}"#).as_bytes()).unwrap().path().to_owned();
        assert_eq!(path, format!("{}…", "x".repeat(128)));
        let path = refusal(format!(r#"{{"a": {{"{}": }}}}"#, "é".repeat(100)).as_bytes()).unwrap();
        assert_eq!(path.path(), format!("a.{}…", "é".repeat(63)));
        let found = refusal(b"{\"a\\u001b\": }").unwrap().to_string();
        assert_eq!(found, "expected value at a\\u{1b}, line 1 column 13");
    }
}
