use std::sync::Arc;

/// An authenticated sender.
pub(super) struct Sender {
    /// The label of the target whose token was presented, or `capability`.
    pub(super) target: Arc<str>,
    /// The intent of the capability URL.
    pub(super) intent: Option<Box<str>>,
}
