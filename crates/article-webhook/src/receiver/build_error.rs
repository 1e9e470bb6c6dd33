use crate::causes::debug_as_text;

/// A setting of a [`ReceiverBuilder`](crate::ReceiverBuilder) is wrong.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
/// let error = Receiver::builder(token).body_limit(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "a body limit of 0 bytes refuses every delivery: the default is 8388608");
/// # Ok::<(), article_webhook::TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // later versions may refuse more settings
pub enum BuildError {
    /// The name is not a valid header name.
    #[error(
        "`{name}` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`"
    )]
    #[non_exhaustive]
    HeaderName {
        /// The name that was given.
        name: String,
    },
    /// The header already has another meaning.
    #[error(
        "the header `{name}` has another meaning already: give the event and the job id a header of their own each"
    )]
    #[non_exhaustive]
    HeaderTaken {
        /// The name that was given.
        name: String,
    },
    /// The body limit is 0.
    #[error("a body limit of 0 bytes refuses every delivery: the default is 8388608")]
    ZeroBodyLimit,
    /// The budget of all bodies is smaller than the limit of one.
    #[error(
        "a body budget of {budget} bytes cannot hold one body of the limit, {limit}: raise body_budget, or lower body_limit"
    )]
    #[non_exhaustive]
    BodyBudget {
        /// The budget that was given, in bytes.
        budget: usize,
        /// The body limit, in bytes.
        limit: usize,
    },
    /// The body's deadline is 0.
    #[error(
        "a body deadline of 0 seconds refuses every body that has to be waited for: the default is 30"
    )]
    ZeroBodyDeadline,
    /// The sink's deadline is 0.
    #[error("an answer deadline of 0 seconds refuses every delivery: the default is 5")]
    ZeroAnswerDeadline,
}

debug_as_text!(BuildError);
