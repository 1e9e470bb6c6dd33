use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{
    Found, FromJson,
    value_visitor::{Depth, ValueVisitor},
};

/// The elements of an array, to be read one after the other.
pub(crate) struct Elements<A> {
    seq: A,
    depth: Depth,
}

impl<'de, A: SeqAccess<'de>> Elements<A> {
    pub(super) fn new(seq: A, depth: Depth) -> Self {
        Self { seq, depth }
    }

    pub(crate) fn next<T: FromJson>(&mut self) -> Result<Option<Found<T>>, A::Error> {
        self.seq.next_element_seed(ValueVisitor::new(self.depth))
    }
}

/// The entries of an object, to be read one after the other.
pub(crate) struct Entries<'de, A> {
    map: A,
    depth: Depth,
    first: Option<Cow<'de, str>>,
}

impl<'de, A: MapAccess<'de>> Entries<'de, A> {
    /// `first` is the first key, which has been read already.
    pub(super) fn new(map: A, depth: Depth, first: Option<Cow<'de, str>>) -> Self {
        Self { map, depth, first }
    }

    pub(crate) fn key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        match self.first.take() {
            Some(key) => Ok(Some(key)),
            None => self.map.next_key_seed(Key),
        }
    }

    pub(crate) fn value<T: FromJson>(&mut self) -> Result<Found<T>, A::Error> {
        self.map.next_value_seed(ValueVisitor::new(self.depth))
    }

    /// Reads the value of a key that may come only once: `found` must still be absent.
    pub(crate) fn read_into<T: FromJson>(&mut self, found: &mut Found<T>) -> Result<(), A::Error> {
        let repeated = !matches!(found, Found::Absent);
        *found = self.value()?;
        if repeated {
            return Err(repeated_key());
        }
        Ok(())
    }
}

pub(super) fn repeated_key<E: Error>() -> E {
    E::custom("repeated key")
}

/// A key with its escapes resolved, so that `"job_id"` and `"job\u005fid"` are the same key.
pub(super) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::{BoolDeserializer, Error as ValueError, StringDeserializer};

    use super::*;

    #[test]
    fn a_key_of_another_kind_is_refused_with_what_was_expected() {
        let error = Key.deserialize(BoolDeserializer::<ValueError>::new(true)).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: boolean `true`, expected a key");
    }

    #[test]
    fn a_key_may_be_owned() {
        let owned = StringDeserializer::<ValueError>::new("key".to_owned());
        assert_eq!(Key.deserialize(owned).unwrap(), "key");
    }
}
