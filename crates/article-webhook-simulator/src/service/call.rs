use std::time::Duration;

use http::StatusCode;

/// A call of the API that was answered.
///
/// ```
/// fn line(call: &article_webhook_simulator::Call) -> String {
///     format!("{:?} {} {}: {}", call.at, call.method, call.path, call.status)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // a call may get more details
pub struct Call {
    /// When it was made, in simulated time since the start.
    pub at: Duration,
    /// The method.
    pub method: String,
    /// The path, without a query.
    pub path: String,
    /// The status of the answer.
    pub status: StatusCode,
}
