use std::{borrow::Cow, collections::BTreeSet};

use serde::de::MapAccess;

use super::{
    Entries, Field, FromJson, Kind,
    from_json::{Skipped, repeated_key},
};

/// An object with some known fields.
pub(crate) trait ObjectFields: Default {
    /// [Reads](Entries::read_into) the value of `key`, or returns `false` if the key is not known.
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'_, 'de, A>,
    ) -> Result<bool, A::Error>;

    /// Is called for each key that is not known.
    fn unknown(&mut self, _key: &str, _kind: Kind) {}
}

impl<F: ObjectFields> FromJson for F {
    const EXPECTED: &'static str = "an object";

    #[inline(never)] // as `skip_object`
    fn object<'de, A: MapAccess<'de>>(
        mut entries: Entries<'_, 'de, A>,
    ) -> Result<Option<Self>, A::Error> {
        let mut fields = Self::default();
        let mut unknown = UnknownKeys::default();
        while let Some(key) = entries.key()? {
            if fields.field(&key, &mut entries)? {
                continue;
            }
            if let Field::OtherKind(kind) = entries.value::<Skipped>()? {
                fields.unknown(&key, kind);
            }
            if !unknown.insert(key) {
                return Err(repeated_key());
            }
        }
        Ok(Some(fields))
    }
}

/// How many unknown keys of one object are searched for a repeated one. A repeated key that no reader knows
/// changes no meaning, so further ones need not be refused.
const MAX_TRACKED: usize = 1024;

const MAX_FEW: usize = 16;

/// The unknown keys of one object. The first 16 are a list, because most objects have few; the rest
/// are a tree, so that many keys do not take quadratic time. Past [`MAX_TRACKED`] no key is added, so that a
/// million keys do not take many times the memory of the body.
#[derive(Default)]
struct UnknownKeys<'de> {
    few: Vec<Cow<'de, str>>,
    many: BTreeSet<Cow<'de, str>>,
}

impl<'de> UnknownKeys<'de> {
    /// Returns `false` if the key was inserted before.
    fn insert(&mut self, key: Cow<'de, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < MAX_FEW {
            self.few.push(key);
            return true;
        }
        if self.many.len() < MAX_TRACKED - MAX_FEW {
            return self.many.insert(key);
        }
        !self.many.contains(&key)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::json::parse;

    #[derive(Default)]
    pub(in crate::json) struct NoFields;

    impl ObjectFields for NoFields {
        fn field<'de, A: MapAccess<'de>>(
            &mut self,
            _: &str,
            _: &mut Entries<'_, 'de, A>,
        ) -> Result<bool, A::Error> {
            Ok(false)
        }
    }

    #[test]
    fn a_repeated_unknown_key_is_refused_among_few_keys_and_among_many() {
        for others in [0, 15, 16, 17, 100, MAX_TRACKED - 1] {
            let others: String = (0..others).map(|key| format!("\"{key}\": 0, ")).collect();
            for (keys, refused) in [("\"a\": 1", false), ("\"a\": 1, \"\\u0061\": 2", true)] {
                let body = format!("{{{others}{keys}}}");
                assert_eq!(parse::<NoFields>(body.as_bytes()).is_err(), refused, "{body}");
            }
        }
    }

    #[test]
    fn a_key_is_compared_with_the_first_1024_unknown_keys() {
        let mut keys = UnknownKeys::default();
        for key in 0..2 * MAX_TRACKED {
            assert!(keys.insert(key.to_string().into()));
        }
        assert_eq!(keys.few.len() + keys.many.len(), 1024);
        for (key, is_new) in [(0, false), (1023, false), (1024, true)] {
            assert_eq!(keys.insert(key.to_string().into()), is_new, "{key}");
        }
    }
}
