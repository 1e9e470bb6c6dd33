use crate::answer::Rejection;

/// The maximum length of a body. The only place that refuses a body for its length (413).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyLimit(pub(crate) usize);

impl BodyLimit {
    /// Checks a length: declared, received so far, or of the whole body.
    pub(crate) fn check(self, length: u64) -> Result<(), Rejection> {
        let Self(limit) = self;
        if length > limit as u64 { Err(Rejection::TooLarge { limit }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_may_be_as_long_as_the_limit_and_no_longer() {
        assert_eq!(BodyLimit(10).check(0), Ok(()));
        assert_eq!(BodyLimit(10).check(10), Ok(()));
        assert_eq!(BodyLimit(10).check(11), Err(Rejection::TooLarge { limit: 10 }));
        assert_eq!(BodyLimit(10).check(u64::MAX), Err(Rejection::TooLarge { limit: 10 }));
    }
}
