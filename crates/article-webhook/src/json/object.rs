use std::collections::BTreeSet;

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
        let mut unknown = BTreeSet::new();
        while let Some(key) = entries.key()? {
            if fields.field(&key, &mut entries)? {
                continue;
            }
            if let Field::OtherKind(kind) = entries.value::<Skipped>()? {
                fields.unknown(&key, kind);
            }
            let is_new = match unknown.len() < MAX_TRACKED {
                true => unknown.insert(key),
                false => !unknown.contains(&key),
            };
            if !is_new {
                return Err(repeated_key());
            }
        }
        Ok(Some(fields))
    }
}

/// How many unknown keys of one object are searched for a repeated one, so that a million keys do not take many times the
/// memory of the body. A repeated key that no reader knows changes no meaning, so further ones need not be refused.
const MAX_TRACKED: usize = 1024;

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
    fn a_repeated_unknown_key_is_refused_if_it_is_one_of_the_first_1024() {
        for (before, is_refused) in
            [(0, true), (1, true), (MAX_TRACKED - 1, true), (MAX_TRACKED, false)]
        {
            let before: String = (0..before).map(|key| format!("\"{key}\": 0, ")).collect();
            for (keys, is_refused) in
                [("\"a\": 1", false), ("\"a\": 1, \"\\u0061\": 2", is_refused)]
            {
                let body = format!("{{{before}{keys}}}");
                assert_eq!(parse::<NoFields>(body.as_bytes()).is_err(), is_refused, "{body}");
            }
        }
        let first = (0..2 * MAX_TRACKED).map(|key| format!("\"{key}\": 0, ")).collect::<String>();
        assert!(parse::<NoFields>(format!("{{{first}\"0\": 0}}").as_bytes()).is_err());
    }
}
