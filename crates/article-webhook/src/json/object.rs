use std::{borrow::Cow, collections::BTreeSet};

use serde::de::MapAccess;

use super::{
    Entries, Found, FromJson, Kind,
    from_json::{Skipped, repeated_key},
};

/// An object with some known fields.
pub(crate) trait ObjectFields: Default {
    /// [Reads](Entries::read_into) the value of `key`, or returns `false` if the key is not known.
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        entries: &mut Entries<'de, A>,
    ) -> Result<bool, A::Error>;

    /// Is called for each key that is not known.
    fn unknown(&mut self, _key: &str, _kind: Kind) {}
}

impl<F: ObjectFields> FromJson for F {
    const EXPECTED: &'static str = "an object";

    #[inline(never)] // as `skip_object`
    fn object<'de, A: MapAccess<'de>>(
        mut entries: Entries<'de, A>,
    ) -> Result<Option<Self>, A::Error> {
        let mut fields = Self::default();
        let mut unknown = UnknownKeys::default();
        while let Some(key) = entries.key()? {
            if fields.field(&key, &mut entries)? {
                continue;
            }
            if let Found::OtherKind(kind) = entries.value::<Skipped>()? {
                fields.unknown(&key, kind);
            }
            if !unknown.insert(key) {
                return Err(repeated_key());
            }
        }
        Ok(Some(fields))
    }
}

/// The unknown keys of one object. The first 16 are a list, because most objects have few; the rest
/// are a tree, so that a body of a million keys does not take quadratic time.
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
        if self.few.len() < 16 {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
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
            _: &mut Entries<'de, A>,
        ) -> Result<bool, A::Error> {
            Ok(false)
        }
    }

    #[test]
    fn a_repeated_unknown_key_is_refused_among_few_keys_and_among_many() {
        for others in [0, 15, 16, 17, 100] {
            let others: String = (0..others).map(|key| format!("\"{key}\": 0, ")).collect();
            for (keys, refused) in [("\"a\": 1", false), ("\"a\": 1, \"\\u0061\": 2", true)] {
                let body = format!("{{{others}{keys}}}");
                assert_eq!(parse::<NoFields>(body.as_bytes()).is_err(), refused, "{body}");
            }
        }
    }

    #[test]
    fn sixteen_keys_are_a_list_and_the_rest_a_tree() {
        let mut keys = UnknownKeys::default();
        for key in 0..20 {
            assert!(keys.insert(key.to_string().into()));
        }
        assert_eq!((keys.few.len(), keys.many.len()), (16, 4));
    }
}
