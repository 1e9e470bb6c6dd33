//! How serde walks through a value: each into a [`Slot`], never deeper than [`MAX_DEPTH`].

use std::{borrow::Cow, fmt, marker::PhantomData, sync::LazyLock};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::{
    Kind,
    json::{Shape, Slot, repeated_key},
};

/// How deep objects and arrays may be nested, the outermost object included.
const MAX_DEPTH: u8 = 64;

/// How many more levels of nesting are allowed from here.
#[derive(Clone, Copy)]
struct Room(u8);

impl Room {
    fn enter<E: Error>(self) -> Result<Self, E> {
        let left = self.0.checked_sub(1);
        left.map(Self).ok_or_else(|| E::custom("nested too deep"))
    }
}

/// The elements of an array, to be read one after the other.
pub(crate) struct Elements<A> {
    seq: A,
    room: Room,
}

impl<'de, A: SeqAccess<'de>> Elements<A> {
    pub(crate) fn next<T: Shape>(&mut self) -> Result<Option<Slot<T>>, A::Error> {
        self.seq.next_element_seed(Reader::new(self.room))
    }
}

/// The entries of an object, to be read one after the other.
pub(crate) struct Entries<'de, A> {
    map: A,
    room: Room,
    first: Option<Cow<'de, str>>,
}

impl<'de, A: MapAccess<'de>> Entries<'de, A> {
    pub(crate) fn key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        match self.first.take() {
            Some(key) => Ok(Some(key)),
            None => self.map.next_key_seed(Key),
        }
    }

    pub(crate) fn value<T: Shape>(&mut self) -> Result<Slot<T>, A::Error> {
        self.map.next_value_seed(Reader::new(self.room))
    }

    /// Reads the value into the slot of its key, which must be absent: each key may come once.
    pub(crate) fn fill<T: Shape>(&mut self, slot: &mut Slot<T>) -> Result<(), A::Error> {
        let repeated = !matches!(slot, Slot::Absent);
        *slot = self.value()?;
        if repeated {
            return Err(repeated_key());
        }
        Ok(())
    }
}

/// A key with its escapes resolved, so that `"job_id"` and `"job\u005fid"` are the same one.
struct Key;

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

/// Under serde_json's feature `arbitrary_precision`, which any crate of an application may turn
/// on for all, a number reaches a visitor as an object with this one key.
const NUMBER: &str = "$serde_json::private::Number";

/// Whether that feature is on: only then is a number kept as it was written.
static NUMBERS_ARE_OBJECTS: LazyLock<bool> =
    LazyLock::new(|| "1.10".parse().is_ok_and(|number: Number| number.to_string() == "1.10"));

pub(crate) struct Reader<T> {
    room: Room,
    shape: PhantomData<T>,
}

impl<T> Reader<T> {
    /// Reads a whole document.
    pub(crate) fn outermost() -> Self {
        Self::new(Room(MAX_DEPTH))
    }

    fn new(room: Room) -> Self {
        let shape = PhantomData;
        Self { room, shape }
    }
}

impl<T: Shape> Reader<T> {
    /// A number in the guise of an object. Where the body really holds such an object, it is
    /// refused: what it says would depend on the features of the application.
    fn number<'de, A: MapAccess<'de>>(mut map: A) -> Result<Slot<T>, A::Error> {
        // Its digits are a string, which needs no room; a number is no level of nesting.
        let Slot::Is(digits) = map.next_value_seed(Reader::<String>::new(Room(0)))? else {
            return Err(A::Error::custom("not a number"));
        };
        let number: Number = digits.parse().map_err(A::Error::custom)?;
        if number.as_f64().is_none() || map.next_key_seed(Key)?.is_some() {
            return Err(A::Error::custom("not a number"));
        }
        Ok(Slot::new(T::number(number), Kind::Number))
    }
}

impl<'de, T: Shape> DeserializeSeed<'de> for Reader<T> {
    type Value = Slot<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Slot<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Shape> Visitor<'de> for Reader<T> {
    type Value = Slot<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_unit<E: Error>(self) -> Result<Slot<T>, E> {
        Ok(Slot::new(T::null(), Kind::Null))
    }

    fn visit_bool<E: Error>(self, boolean: bool) -> Result<Slot<T>, E> {
        Ok(Slot::new(T::boolean(boolean), Kind::Boolean))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Slot<T>, E> {
        Ok(Slot::new(T::number(number.into()), Kind::Number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Slot<T>, E> {
        Ok(Slot::new(T::number(number.into()), Kind::Number))
    }

    // serde_json has refused what no f64 can hold.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Slot<T>, E> {
        let number = Number::from_f64(number).and_then(T::number);
        Ok(Slot::new(number, Kind::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Slot<T>, E> {
        Ok(Slot::new(T::text(text), Kind::String))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Slot<T>, A::Error> {
        let room = self.room.enter()?;
        Ok(Slot::new(T::array(Elements { seq, room })?, Kind::Array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Slot<T>, A::Error> {
        let first = map.next_key_seed(Key)?;
        if first.as_deref() == Some(NUMBER) && *NUMBERS_ARE_OBJECTS {
            return Self::number(map);
        }
        let room = self.room.enter()?;
        Ok(Slot::new(T::object(Entries { map, room, first })?, Kind::Object))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::{BoolDeserializer, Error as Refusal, StringDeserializer};

    use super::*;

    #[test]
    fn what_is_expected_is_said() {
        let boolean = BoolDeserializer::<Refusal>::new(true);
        let error = Key.deserialize(boolean).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: boolean `true`, expected a key");

        // Bytes, which JSON has not.
        let error = Reader::<String>::outermost().visit_bytes::<Refusal>(b"").err().unwrap();
        assert_eq!(error.to_string(), "invalid type: byte array, expected a string");
    }

    #[test]
    fn a_key_may_be_owned() {
        let owned = StringDeserializer::<Refusal>::new("key".to_owned());
        assert_eq!(Key.deserialize(owned).unwrap(), "key");
    }
}
