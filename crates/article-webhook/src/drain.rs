use std::time::Duration;

/// How much of a refused body may still be read: 64 KiB, within 500 milliseconds.
///
/// ```
/// # use article_webhook::{AuthToken, Receiver};
/// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let refused = receiver.open(&[("Transfer-Encoding", "chunked")][..]).unwrap_err();
/// let mut drain = refused.drain().unwrap();
/// assert!(drain.take(65_536));
/// assert!(!drain.take(1)); // enough: answer and close
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Drain {
    left: usize,
}

impl Drain {
    const MOST: usize = 64 << 10;

    pub(crate) fn new() -> Self {
        Self { left: Self::MOST }
    }

    /// How long draining may take: 500 milliseconds.
    ///
    /// ```
    /// assert_eq!(article_webhook::Drain::WITHIN.as_millis(), 500);
    /// ```
    pub const WITHIN: Duration = Duration::from_millis(500);

    /// Counts `bytes` that were read and dropped; `false` when it was too much.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let mut drain = receiver.open(&[("Content-Length", "5")][..]).unwrap_err().drain().unwrap();
    /// assert!(drain.take(5));
    /// assert!(!drain.take(100_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

/// What becomes of the part of a body that was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftover {
    Nothing,
    Drain,
    Close,
}

impl Leftover {
    /// A declared length over `limit` is refused for that alone, so that no byte of it is wanted.
    pub(crate) fn new(declared: Option<u64>, limit: usize, expects: bool) -> Self {
        let most = limit.min(Drain::MOST) as u64;
        let short = declared.is_none_or(|length| length <= most);
        if short && !expects {
            Self::Drain
        } else {
            Self::Close
        }
    }
}
