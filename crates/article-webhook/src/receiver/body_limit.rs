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
