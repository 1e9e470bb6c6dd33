use std::{fmt, marker::PhantomData, sync::LazyLock};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Elements, Entries, Field, FromJson, Kind, key::Key, limits::Limits};

/// Under serde_json's feature `arbitrary_precision`, which any crate of an application may turn
/// on for all of them, a number reaches a visitor as an object with this one key.
const NUMBER: &str = "$serde_json::private::Number";

/// Whether that feature is on: only then is a number kept as it was written.
static NUMBERS_ARE_OBJECTS: LazyLock<bool> =
    LazyLock::new(|| "1.10".parse().is_ok_and(|number: Number| number.to_string() == "1.10"));

/// Reads one value of any kind as a `T`.
pub(super) struct ValueVisitor<'a, T> {
    limits: Limits<'a>,
    target: PhantomData<T>,
}

impl<'a, T> ValueVisitor<'a, T> {
    pub(super) fn new(limits: Limits<'a>) -> Self {
        Self { limits, target: PhantomData }
    }
}

impl<T: FromJson> ValueVisitor<'_, T> {
    /// Reads a number that serde_json presents as an object. If the body itself holds such an object,
    /// it is refused: its meaning would depend on the features that the application turned on.
    fn number<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Field<T>, A::Error> {
        let digits = map.next_value_seed(ValueVisitor::<String>::new(self.limits))?;
        let Field::Value(digits) = digits else {
            return Err(A::Error::custom("not a number"));
        };
        let number: Number = digits.parse().map_err(A::Error::custom)?;
        if number.as_f64().is_none() {
            return Err(A::Error::custom("number out of range"));
        }
        if map.next_key_seed(Key)?.is_some() {
            return Err(A::Error::custom("not a number"));
        }
        Ok(Field::new(T::number(number), Kind::Number))
    }
}

impl<'de, T: FromJson> DeserializeSeed<'de> for ValueVisitor<'_, T> {
    type Value = Field<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: FromJson> Visitor<'de> for ValueVisitor<'_, T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_unit<E: Error>(self) -> Result<Field<T>, E> {
        Ok(Field::new(T::null(), Kind::Null))
    }

    fn visit_bool<E: Error>(self, boolean: bool) -> Result<Field<T>, E> {
        Ok(Field::new(T::boolean(boolean), Kind::Boolean))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Field<T>, E> {
        Ok(Field::new(T::number(number.into()), Kind::Number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Field<T>, E> {
        Ok(Field::new(T::number(number.into()), Kind::Number))
    }

    // serde_json has already refused numbers that no f64 can hold.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Field<T>, E> {
        let number = Number::from_f64(number).and_then(T::number);
        Ok(Field::new(number, Kind::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Field<T>, E> {
        Ok(Field::new(T::text(text), Kind::String))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Field<T>, A::Error> {
        let limits = self.limits.enter()?;
        Ok(Field::new(T::array(Elements::new(seq, limits))?, Kind::Array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field<T>, A::Error> {
        let first = map.next_key_seed(Key)?;
        if first.as_deref() == Some(NUMBER) && *NUMBERS_ARE_OBJECTS {
            return self.number(map);
        }
        let limits = self.limits.enter()?;
        Ok(Field::new(T::object(Entries::new(map, limits, first))?, Kind::Object))
    }
}
