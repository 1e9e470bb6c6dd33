/// What a [`Sink`](crate::Sink) says to a delivery that was let in.
///
/// It decides what the service does next (document, section 6.2): a 2xx ends the matter, anything
/// else is retried after 10, 60 and 300 seconds and then never again.
///
/// ```
/// use article_webhook::{Answer, Reply};
///
/// assert_eq!(Answer::from(Reply::Stored).status(), 200);
/// assert_eq!(Answer::from(Reply::Retry).status(), 503);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // a store may come to know more outcomes
pub enum Reply {
    /// 200: it is durably stored. Say so only after the commit returned.
    Stored,
    /// 200: the same job is durably stored already.
    Duplicate,
    /// 200: nothing is to be done about it, and a retry could not help.
    Ignored,
    /// 503 with `Retry-After: 10`: not now, send it again.
    Retry,
    /// 503 with `Retry-After: 10`: the store is down, full or too busy, or its outcome is unknown.
    Unavailable,
}
