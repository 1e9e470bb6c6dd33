use std::time::Duration;

use super::Rejection;

/// What to do with the unread part of a refused request's body.
///
/// A sender that is still writing when the connection closes may see a reset instead of the answer.
/// So a short body is read and dropped first; a long one is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadBody {
    /// Nothing is left: the connection may be used again.
    None,
    /// Read it within the [budget](DrainBudget), and close the connection if that is not enough.
    Drain,
    /// Close the connection at once.
    Close,
    /// Close the connection at once. The sender waits for permission before it sends the body.
    Unsent,
}

impl UnreadBody {
    /// Decides by the declared length, which is `None` for a chunked body. If the length is over
    /// `limit`, that is the cause of the refusal, and the body is not read. After a body without a
    /// single length, the start of the next request is unknown.
    pub(crate) fn by_length(declared: &Result<Option<u64>, Rejection>, limit: usize) -> Self {
        let max = limit.min(DrainBudget::BYTES) as u64;
        match declared {
            Ok(length) if length.is_none_or(|length| length <= max) => Self::Drain,
            _ => Self::Close,
        }
    }
}

/// How much of an unread body may still be read and dropped.
pub(crate) struct DrainBudget {
    left: usize,
}

impl DrainBudget {
    /// The time within which the body must end.
    pub(crate) const TIME: Duration = Duration::from_millis(500);
    const BYTES: usize = 64 << 10;

    pub(crate) fn new() -> Self {
        Self { left: Self::BYTES }
    }

    /// Takes `bytes` from the budget. Returns `false` if it has fewer left.
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
    fn only_a_body_that_may_be_drained_to_its_end_is() {
        let unread = |declared| UnreadBody::by_length(&declared, 8 << 20);
        assert_eq!(unread(Ok(None)), UnreadBody::Drain);
        assert_eq!(unread(Ok(Some(65_536))), UnreadBody::Drain);
        assert_eq!(unread(Ok(Some(65_537))), UnreadBody::Close);
        assert_eq!(unread(Err(Rejection::Framing)), UnreadBody::Close);
        assert_eq!(UnreadBody::by_length(&Ok(Some(11)), 10), UnreadBody::Close);
    }
}
