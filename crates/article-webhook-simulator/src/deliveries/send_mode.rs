use std::time::Duration;

/// How the body of a [`Push`](crate::Push) is sent.
///
/// ```
/// use article_webhook_simulator::SendMode;
///
/// fn arrives_whole(mode: SendMode) -> bool {
///     mode != SendMode::Cut
/// }
/// assert!(arrives_whole(SendMode::Chunked) && !arrives_whole(SendMode::Cut));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // bodies can be sent in more ways
pub enum SendMode {
    /// At once, with its length.
    Whole,
    /// At once, in chunks, without its length.
    Chunked,
    /// With its length, in pieces over this real time.
    Slow(Duration),
    /// With its length, and then the connection is closed in the middle of the body.
    Cut,
}
