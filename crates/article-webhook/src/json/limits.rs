use std::cell::Cell;

use serde::de::Error;

/// How deep objects and arrays may be nested, the outermost object included.
pub(super) const MAX_DEPTH: u8 = 64;

/// How many values of one document may be kept as JSON. An object with one field takes 600 bytes of memory
/// for 6 bytes of JSON, so memory that is bounded by the length of the body needs a bound by count as well.
const MAX_KEPT: usize = 4096;

/// How many more levels of nesting are allowed from here, and how many more values may be kept in the whole
/// document.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    depth: u8,
    kept: &'a Cell<usize>,
}

impl<'a> Limits<'a> {
    /// The limits of a whole document. `kept` counts the values that may still be kept.
    pub(super) fn new(kept: &'a Cell<usize>) -> Self {
        kept.set(MAX_KEPT);
        Self { depth: MAX_DEPTH, kept }
    }

    pub(super) fn enter<E: Error>(self) -> Result<Self, E> {
        let depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")))?;
        Ok(Self { depth, ..self })
    }

    /// Whether one more value may be kept.
    pub(super) fn keep(self) -> bool {
        let left = self.kept.get().checked_sub(1);
        self.kept.set(left.unwrap_or(0));
        left.is_some()
    }
}
