use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{answer::Refused, log};

/// Reports the refusal of an authentic delivery, for instance to [`Sink::refused`](crate::Sink::refused).
/// The refusal of an unauthenticated request is not reported. A panic of `report` is caught and logged,
/// and does not change the refusal.
///
/// ```
/// use article_webhook::{AuthToken, Receiver, adapter};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let reported = |token: &str| {
///     let refused = receiver.open(&[("Authorization", token)]).unwrap_err();
///     let mut reported = false;
///     adapter::report_refusal(&refused, |_| reported = true);
///     reported
/// };
/// assert!(reported("Bearer 5f2b9c0e7a1d4e38")); // authentic, but without a Content-Type
/// assert!(!reported("Bearer guess"));
/// # Ok::<(), article_webhook::TokenError>(())
/// ```
pub fn report_refusal(refused: &Refused, report: impl FnOnce(&Refused)) {
    if !refused.rejection().is_authentic() {
        return;
    }
    // A panic here leaves the sink in the same state as a panic in a task of its own.
    if catch_unwind(AssertUnwindSafe(|| report(refused))).is_err() {
        log::refusal_report_panicked(refused.job_id());
    }
}
