use crate::answer::Rejection;

/// The maximum length of a body. The only place that refuses a body for its length (413), as
/// the test `borders` checks. It is asked about the declared length, each chunk, and the whole body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyLimit(pub(crate) usize);

impl BodyLimit {
    pub(crate) fn check(self, length: u64) -> Result<(), Rejection> {
        let Self(limit) = self;
        if length > limit as u64 { Err(Rejection::TooLarge { limit }) } else { Ok(()) }
    }
}
