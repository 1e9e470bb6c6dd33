/// The outcome of an accepted delivery, as a [`Sink`](crate::Sink) reports it.
///
/// It decides what the service does next (service document, section 6.2): after a 2xx it is done; after
/// any other status it retries, with pauses of 10, 60 and 300 seconds, and then gives up.
///
/// ```
/// use article_webhook::{Answer, Reply};
///
/// assert_eq!(Answer::from(Reply::Stored).status(), 200);
/// assert_eq!(Answer::from(Reply::Retry).status(), 503);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // later versions may distinguish more outcomes
pub enum Reply {
    /// 200: it is durably stored. Return this only after the commit.
    Stored,
    /// 200: the same job is durably stored already.
    Duplicate,
    /// 200: there is nothing to store, and a retry would not help.
    Ignored,
    /// 401: the delivery came to the capability URL of another order. The answer is that to a wrong URL, so that a stranger
    /// learns no more.
    Unauthorized,
    /// 503 with `Retry-After: 10`: not stored now; the service should retry.
    Retry,
    /// 503 with `Retry-After: 10`: the store is down, full or too busy, or its outcome is unknown.
    Unavailable,
}
