//! One pass over the JSON of a body, by serde's visitors.
//!
//! What is refused is refused everywhere, in fields we know and in fields we do not: bad UTF-8,
//! lone surrogates, nesting over 64 levels. Serde's own `IgnoredAny` and derived structs will
//! not do: they skip a field without looking at its escapes or its depth, and accept arrays for
//! objects. In the objects we read, a repeated key is refused as well, because two parsers may
//! disagree about which of the two values counts.
//!
//! A value of an unexpected kind is no error of this pass: it becomes a [`Slot::Other`], and who
//! asked for the value decides. So one pass tells malformed bodies from those we do not understand.

use std::{borrow::Cow, collections::BTreeSet};

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess};
use serde_json::Number;

use crate::{
    Drift, Kind,
    reader::{Elements, Entries, Reader},
};

/// Where a body stops being one well-formed JSON object. Holds no part of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Reads the one JSON object that `body` must be.
pub(crate) fn parse<F: Fields>(body: &[u8]) -> Result<F, Malformed> {
    // serde_json would check the UTF-8 as well, string by string and several times slower.
    let text = simdutf8::basic::from_utf8(body).map_err(|_| bad_utf8(body))?;
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Reader::<F>::outermost()
        .deserialize(&mut json)
        .and_then(|value| json.end().map(|()| value))
        .map_err(|error| Malformed { line: error.line(), column: error.column() })?;
    match value {
        Slot::Is(object) => Ok(object),
        Slot::Absent | Slot::Other(_) => Err(Malformed { line: 1, column: 1 }),
    }
}

fn bad_utf8(body: &[u8]) -> Malformed {
    let valid = match std::str::from_utf8(body) {
        Ok(_) => body,
        Err(error) => &body[..error.valid_up_to()],
    };
    let newlines = || valid.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    let line_start = newlines().next_back().map_or(0, |(at, _)| at + 1);
    Malformed { line: newlines().count() + 1, column: valid.len() - line_start + 1 }
}

/// What stands behind a key that was asked for.
#[derive(Default, PartialEq)]
pub(crate) enum Slot<T> {
    #[default]
    Absent,
    Is(T),
    Other(Kind),
}

impl<T> Slot<T> {
    pub(crate) fn new(value: Option<T>, kind: Kind) -> Self {
        value.map_or(Self::Other(kind), Self::Is)
    }
}

/// A type that can be read from a value, from one or several kinds of them; `None` from the others.
pub(crate) trait Shape: Sized {
    /// What should stand there, for an error message.
    const EXPECTED: &'static str;

    /// Reports what stands inside and is not known.
    fn drift(&self, _drift: &mut Vec<Drift>) {}

    fn null() -> Option<Self> {
        None
    }

    fn boolean(_: bool) -> Option<Self> {
        None
    }

    fn number(_: Number) -> Option<Self> {
        None
    }

    fn text(_: &str) -> Option<Self> {
        None
    }

    fn array<'de, A: SeqAccess<'de>>(elements: Elements<A>) -> Result<Option<Self>, A::Error> {
        skip_array(elements)?;
        Ok(None)
    }

    fn object<'de, A: MapAccess<'de>>(entries: Entries<'de, A>) -> Result<Option<Self>, A::Error> {
        skip_object(entries)?;
        Ok(None)
    }
}

/// Not inlined, like all that reads arrays and objects: one reader of everything at once, in which
/// hardly a line is used twice, costs more to load than to run.
#[inline(never)]
fn skip_array<'de, A: SeqAccess<'de>>(mut elements: Elements<A>) -> Result<(), A::Error> {
    while elements.next::<Anything>()?.is_some() {}
    Ok(())
}

#[inline(never)]
fn skip_object<'de, A: MapAccess<'de>>(mut entries: Entries<'de, A>) -> Result<(), A::Error> {
    while entries.key()?.is_some() {
        entries.value::<Anything>()?;
    }
    Ok(())
}

/// A value that is walked through to its end and dropped; only its kind is known.
pub(crate) struct Anything;

impl Shape for Anything {
    const EXPECTED: &'static str = "any value";
}

/// An object with the fields that a reader knows of it.
pub(crate) trait Fields: Default {
    /// [Fills](Entries::fill) the slot of `key`, or returns `false` when it does not know the key.
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error>;

    /// Is told of each key it did not know.
    fn unknown(&mut self, _key: &str, _kind: Kind) {}

    /// Reports what is not known.
    fn drift(&self, _drift: &mut Vec<Drift>) {}
}

impl<F: Fields> Shape for F {
    const EXPECTED: &'static str = "an object";

    fn drift(&self, drift: &mut Vec<Drift>) {
        Fields::drift(self, drift);
    }

    #[inline(never)]
    fn object<'de, A: MapAccess<'de>>(
        mut entries: Entries<'de, A>,
    ) -> Result<Option<Self>, A::Error> {
        let mut fields = Self::default();
        let mut unknown = Keys::default();
        while let Some(key) = entries.key()? {
            if fields.field(&key, &mut entries)? {
                continue;
            }
            if let Slot::Other(kind) = entries.value::<Anything>()? {
                fields.unknown(&key, kind);
            }
            if !unknown.insert(key) {
                return Err(repeated_key());
            }
        }
        Ok(Some(fields))
    }
}

pub(crate) fn repeated_key<E: Error>() -> E {
    E::custom("repeated key")
}

/// The keys of one object that its reader does not know: a short list, as nearly every object has
/// few, and then a tree, so that a body of a million keys takes no quadratic time.
#[derive(Default)]
struct Keys<'de> {
    few: Vec<Cow<'de, str>>,
    many: BTreeSet<Cow<'de, str>>,
}

impl<'de> Keys<'de> {
    /// `false` when the key is there already.
    fn insert(&mut self, key: Cow<'de, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < 16 {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::Outline;

    fn refused_at(body: &[u8]) -> Option<(usize, usize)> {
        let malformed = parse::<Outline>(body).err()?;
        Some((malformed.line, malformed.column))
    }

    #[test]
    fn bad_utf8_is_found_where_it_stands() {
        assert_eq!(refused_at(b"\xff"), Some((1, 1)));
        assert_eq!(refused_at(b"{\"a\": \"\xff\"}"), Some((1, 8)));
        assert_eq!(refused_at(b"{\n\n \"a\": \"\xff\",\n \"b\": 1}"), Some((3, 8)));
        // In bytes, so that the column does not depend on what stands before.
        assert_eq!(refused_at("{\n\"é\": \"".as_bytes()), Some((2, 7)));
        assert_eq!(refused_at(b"{\n\"\xc3\xa9\": \"\xff\"}"), Some((2, 8)));
    }

    #[test]
    fn a_repeated_unknown_key_is_refused_among_few_keys_and_among_many() {
        for others in [0, 15, 16, 17, 100] {
            let others: String = (0..others).map(|key| format!("\"{key}\": 0, ")).collect();
            for (keys, refused) in [("\"a\": 1", false), ("\"a\": 1, \"\\u0061\": 2", true)] {
                let body = format!("{{{others}{keys}}}");
                assert_eq!(refused_at(body.as_bytes()).is_some(), refused, "{body}");
            }
        }
    }

    #[test]
    fn sixteen_keys_are_a_list_and_the_rest_a_tree() {
        let mut keys = Keys::default();
        for key in 0..20 {
            assert!(keys.insert(key.to_string().into()));
        }
        assert_eq!((keys.few.len(), keys.many.len()), (16, 4));
    }
}
