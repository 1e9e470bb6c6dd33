use std::borrow::Cow;

use serde::de::{Error, MapAccess, SeqAccess};
use serde_json::Number;

use super::{Field, key::Key, limits::Limits, value_visitor::ValueVisitor};

/// A type that can be read from a JSON value. Each method reads one kind of value and returns `None` if
/// the type cannot be read from it.
pub(crate) trait FromJson: Sized {
    /// The expected value, for an error message.
    const EXPECTED: &'static str;

    fn null() -> Option<Self> {
        None
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "the value is a JSON boolean")]
    fn boolean(_: bool) -> Option<Self> {
        None
    }

    fn number(_: Number) -> Option<Self> {
        None
    }

    fn text(_: &str) -> Option<Self> {
        None
    }

    fn array<'de, A: SeqAccess<'de>>(elements: Elements<'_, A>) -> Result<Option<Self>, A::Error> {
        skip_array(elements)?;
        Ok(None)
    }

    fn object<'de, A: MapAccess<'de>>(
        entries: Entries<'_, 'de, A>,
    ) -> Result<Option<Self>, A::Error> {
        skip_object(entries)?;
        Ok(None)
    }
}

/// The elements of an array, to be read one after the other.
pub(crate) struct Elements<'a, A> {
    seq: A,
    limits: Limits<'a>,
}

impl<'a, A> Elements<'a, A> {
    pub(super) fn new(seq: A, limits: Limits<'a>) -> Self {
        Self { seq, limits }
    }

    pub(crate) fn next<'de, T: FromJson>(&mut self) -> Result<Option<Field<T>>, A::Error>
    where
        A: SeqAccess<'de>,
    {
        self.seq.next_element_seed(ValueVisitor::new(self.limits))
    }

    /// Whether one more element may be kept.
    pub(super) fn keep(&self) -> bool {
        self.limits.keep()
    }
}

/// The entries of an object, to be read one after the other.
pub(crate) struct Entries<'a, 'de, A> {
    map: A,
    limits: Limits<'a>,
    first: Option<Cow<'de, str>>,
}

impl<'a, 'de, A: MapAccess<'de>> Entries<'a, 'de, A> {
    /// `first` is the first key, which has been read already.
    pub(super) fn new(map: A, limits: Limits<'a>, first: Option<Cow<'de, str>>) -> Self {
        Self { map, limits, first }
    }

    pub(crate) fn key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        match self.first.take() {
            Some(key) => Ok(Some(key)),
            None => self.map.next_key_seed(Key),
        }
    }

    pub(crate) fn value<T: FromJson>(&mut self) -> Result<Field<T>, A::Error> {
        self.map.next_value_seed(ValueVisitor::new(self.limits))
    }

    /// Whether one more entry may be kept.
    pub(crate) fn keep(&self) -> bool {
        self.limits.keep()
    }

    /// Reads the rest, and drops it.
    pub(crate) fn skip(self) -> Result<(), A::Error> {
        skip_object(self)
    }

    /// Reads the value of a key that may come only once: `found` must still be absent.
    pub(crate) fn read_into<T: FromJson>(&mut self, found: &mut Field<T>) -> Result<(), A::Error> {
        let repeated = !matches!(found, Field::Absent);
        *found = self.value()?;
        if repeated {
            return Err(repeated_key());
        }
        Ok(())
    }
}

pub(super) fn repeated_key<E: Error>() -> E {
    E::custom("a key twice")
}

/// A value that is checked to its end and dropped. Only its kind is kept.
pub(crate) struct Skipped;

impl FromJson for Skipped {
    const EXPECTED: &'static str = "any value";
}

// Functions that read arrays and objects are not inlined: one large function in which most lines run
// once costs more to load than to run.
#[inline(never)]
pub(crate) fn skip_array<'de, A: SeqAccess<'de>>(
    mut elements: Elements<'_, A>,
) -> Result<(), A::Error> {
    while elements.next::<Skipped>()?.is_some() {}
    Ok(())
}

#[inline(never)]
fn skip_object<'de, A: MapAccess<'de>>(mut entries: Entries<'_, 'de, A>) -> Result<(), A::Error> {
    while entries.key()?.is_some() {
        entries.value::<Skipped>()?;
    }
    Ok(())
}
