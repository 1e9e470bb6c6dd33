use std::time::Duration;

use article_webhook_inbox::LedgerCounts;

/// The figures that an operator watches.
#[cfg_attr(
    not(any(feature = "metrics", feature = "tracing")),
    expect(dead_code, reason = "nothing shows them")
)]
pub(crate) struct Figures {
    pub(crate) counts: LedgerCounts,
    /// Since when the oldest job is expected.
    pub(crate) oldest: Duration,
    /// How long nothing is asked or ordered from now on.
    pub(crate) paused: Duration,
    pub(crate) tokens: u32,
}
