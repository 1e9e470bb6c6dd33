//! What becomes of the body of a refused request.
//!
//! A sender that is still writing when the connection closes may see a reset instead of the answer. So
//! a short body is taken in first; a long one, or one that the sender announces with `Expect`, is not.

use std::time::Duration;

use crate::Rejection;

/// What becomes of the part of a body that was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftover {
    Nothing,
    Drain,
    Close,
}

impl Leftover {
    /// Decides by the declared length, if the body has one. A length over `limit` is refused for that
    /// alone, so no byte of it is wanted; behind a body without a single length, nobody knows where
    /// the next request begins.
    pub(crate) fn new(
        declared: Result<Option<u64>, Rejection>,
        limit: usize,
        expects: bool,
    ) -> Self {
        let most = limit.min(Drain::MOST) as u64;
        match declared {
            Ok(length) if !expects && length.is_none_or(|length| length <= most) => Self::Drain,
            _ => Self::Close,
        }
    }
}

/// How much of a body may still be read.
pub(crate) struct Drain {
    left: usize,
}

impl Drain {
    pub(crate) const WITHIN: Duration = Duration::from_millis(500);
    const MOST: usize = 64 << 10;

    pub(crate) fn new() -> Self {
        Self { left: Self::MOST }
    }

    /// Counts `bytes` that were read and dropped; `false` when it was too much.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_drained_up_to_64_kib() {
        let mut drain = Drain::new();
        assert!(drain.take(60_000) && drain.take(5_536) && drain.take(0));
        assert!(!drain.take(1));
        assert!(!Drain::new().take(65_537));
    }

    #[test]
    fn only_a_body_that_may_be_drained_to_its_end_is() {
        let leftover = |declared, expects| Leftover::new(declared, 8 << 20, expects);
        assert_eq!(leftover(Ok(None), false), Leftover::Drain);
        assert_eq!(leftover(Ok(Some(65_536)), false), Leftover::Drain);
        assert_eq!(leftover(Ok(Some(65_537)), false), Leftover::Close);
        assert_eq!(leftover(Ok(Some(1)), true), Leftover::Close);
        assert_eq!(leftover(Err(Rejection::Framing), false), Leftover::Close);
        assert_eq!(Leftover::new(Ok(Some(11)), 10, false), Leftover::Close);
    }
}
