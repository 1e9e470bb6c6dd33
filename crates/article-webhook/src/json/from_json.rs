use serde::de::{MapAccess, SeqAccess};
use serde_json::Number;

use super::{Elements, Entries};

/// A type that can be read from a JSON value. Each method reads one kind of value and returns `None`
/// where the type cannot be read from it.
pub(crate) trait FromJson: Sized {
    /// What should stand there, for an error message.
    const EXPECTED: &'static str;

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

/// A value that is checked to its end and dropped. Its kind remains.
pub(super) struct Skipped;

impl FromJson for Skipped {
    const EXPECTED: &'static str = "any value";
}

// Functions that read arrays and objects are not inlined: one large function in which most lines run
// once costs more to load than to run.
#[inline(never)]
fn skip_array<'de, A: SeqAccess<'de>>(mut elements: Elements<A>) -> Result<(), A::Error> {
    while elements.next::<Skipped>()?.is_some() {}
    Ok(())
}

#[inline(never)]
fn skip_object<'de, A: MapAccess<'de>>(mut entries: Entries<'de, A>) -> Result<(), A::Error> {
    while entries.key()?.is_some() {
        entries.value::<Skipped>()?;
    }
    Ok(())
}
