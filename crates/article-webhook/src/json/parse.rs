use std::cell::Cell;

use serde::de::DeserializeSeed;

use super::{Field, ObjectFields, limits::Limits, value_visitor::ValueVisitor};

/// The position at which a body is malformed. Contains no part of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Parses `body`, which must be one JSON object.
pub(crate) fn parse<F: ObjectFields>(body: &[u8]) -> Result<F, Malformed> {
    // serde_json would also check the UTF-8, but string by string and several times slower.
    let text = simdutf8::basic::from_utf8(body).map_err(|_| invalid_utf8(body))?;
    let mut json = serde_json::Deserializer::from_str(text);
    let kept = Cell::new(0);
    let value = ValueVisitor::<F>::new(Limits::new(&kept))
        .deserialize(&mut json)
        .and_then(|value| json.end().map(|()| value))
        .map_err(|error| Malformed { line: error.line(), column: error.column() })?;
    match value {
        Field::Value(object) => Ok(object),
        Field::Absent | Field::OtherKind(_) => Err(Malformed { line: 1, column: 1 }),
    }
}

fn invalid_utf8(body: &[u8]) -> Malformed {
    let valid = match std::str::from_utf8(body) {
        Ok(_) => body,
        Err(error) => &body[..error.valid_up_to()],
    };
    let newlines = || valid.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    let line_start = newlines().next_back().map_or(0, |(at, _)| at + 1);
    Malformed { line: newlines().count() + 1, column: valid.len() - line_start + 1 }
}

#[cfg(test)]
mod tests {
    use super::{super::object::tests::NoFields, *};

    #[test]
    fn a_malformed_body_is_refused_where_it_goes_wrong() {
        let refused_at = |body: &[u8]| {
            let malformed = parse::<NoFields>(body).err()?;
            Some((malformed.line, malformed.column))
        };
        assert_eq!(refused_at(b"\xff"), Some((1, 1)));
        assert_eq!(refused_at(b"{\"a\": \"\xff\"}"), Some((1, 8)));
        assert_eq!(refused_at(b"{\n\n \"a\": \"\xff\",\n \"b\": 1}"), Some((3, 8)));
        // In bytes, so that the column does not depend on the characters before it.
        assert_eq!(refused_at("{\n\"é\": \"".as_bytes()), Some((2, 7)));
        assert_eq!(refused_at(b"{\n\"\xc3\xa9\": \"\xff\"}"), Some((2, 8)));
        assert_eq!(refused_at(b"[]"), Some((1, 1)));
        assert_eq!(refused_at(b"{}"), None);
    }
}
