//! One pass over the JSON of a body, by serde's visitors.
//!
//! What is refused is refused everywhere, in fields we know and in fields we do not: bad UTF-8,
//! lone surrogates, nesting over [`MAX_DEPTH`]. Serde's own `IgnoredAny` and derived structs will
//! not do: they skip a field without looking at its escapes or its depth, and accept arrays for
//! objects. In the objects we read, a repeated key is refused as well, because two parsers may
//! disagree about which of the two values counts.
//!
//! A value of an unexpected kind is no error of this pass: it becomes a [`Slot::Other`], and who
//! asked for the value decides. So one pass tells malformed bodies from those we do not understand.

use std::{borrow::Cow, collections::BTreeSet, fmt, marker::PhantomData, sync::LazyLock};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::{Drift, Kind};

/// How deep objects and arrays may be nested, the outermost object included.
const MAX_DEPTH: u8 = 64;

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
    let value = Reader::<F>::new(Room(MAX_DEPTH))
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
    fn new(value: Option<T>, kind: Kind) -> Self {
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

fn repeated_key<E: Error>() -> E {
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

struct Reader<T> {
    room: Room,
    shape: PhantomData<T>,
}

impl<T> Reader<T> {
    fn new(room: Room) -> Self {
        let shape = PhantomData;
        Self { room, shape }
    }
}

impl<T: Shape> Reader<T> {
    /// A number in the guise of an object. Where the body really holds such an object, it is
    /// refused: what it says would depend on the features of the application.
    fn number<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Slot<T>, A::Error> {
        let room = self.room.enter()?;
        let Slot::Is(digits) = map.next_value_seed(Reader::<String>::new(room))? else {
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
            return self.number(map);
        }
        let room = self.room.enter()?;
        Ok(Slot::new(T::object(Entries { map, room, first })?, Kind::Object))
    }
}
