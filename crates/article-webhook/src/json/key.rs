use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

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
