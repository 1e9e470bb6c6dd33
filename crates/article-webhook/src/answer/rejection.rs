use crate::{
    article::{DecodeError, InvalidJobId},
    causes::debug_as_text,
    json::MalformedJson,
};

/// The cause of a refusal: one variant per cause.
///
/// The answer contains only the [`code`](Self::code) and the [`status`](Self::status), which are coarser. The
/// cause is for logs and metrics. No variant holds a token, a value of a body or a header value.
///
/// ```
/// use article_webhook::Rejection;
///
/// assert_eq!(Rejection::AuthorizationWrong.status(), 401);
/// assert_eq!(Rejection::AuthorizationMissing.code(), "unauthorized");
/// assert_eq!(Rejection::AuthorizationRepeated.to_string(), "the Authorization header is repeated");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // later versions may distinguish more causes
pub enum Rejection {
    /// 405: the request's method is not POST.
    #[error("the method is not POST")]
    MethodNotPost,
    /// 401: no `Authorization` header.
    #[error("the Authorization header is missing: does a proxy strip it?")]
    AuthorizationMissing,
    /// 401: more than one `Authorization` header, even if they are equal.
    #[error("the Authorization header is repeated")]
    AuthorizationRepeated,
    /// 401: no accepted token equals the `Authorization` header.
    #[error("the Authorization header is not an accepted token")]
    AuthorizationWrong,
    /// 401: the last segment of the URL is not a capability of this receiver.
    #[error("the URL is not a capability of this receiver")]
    CapabilityWrong,
    /// 401: the capability is one of this receiver's and has expired.
    #[error("the capability has expired")]
    CapabilityExpired,
    /// 415: no `Content-Type` header.
    #[error("the Content-Type header is missing: does a proxy strip it?")]
    ContentTypeMissing,
    /// 415: more than one `Content-Type` header, even if they are equal.
    #[error("the Content-Type header is repeated")]
    ContentTypeRepeated,
    /// 415: another type than `application/json`, or parameters that are not as RFC 9110, section 5.6.6, has them.
    #[error("the Content-Type is not a well-formed application/json")]
    ContentTypeWrong,
    /// 415: the `charset` of the `Content-Type` is not UTF-8.
    #[error("the charset of the Content-Type is not utf-8")]
    ContentTypeCharset,
    /// 415: the body is compressed or otherwise encoded.
    #[error("the Content-Encoding is not identity")]
    ContentEncoding,
    /// 400: a header of the service is repeated.
    #[error("the {0} header is repeated")]
    HeaderRepeated(ServiceHeader),
    /// 400: a header of the service is missing, and the receiver is
    /// [`strict`](crate::ReceiverBuilder::strict) or the body is not a complete article.
    #[error("the {0} header is missing")]
    HeaderMissing(ServiceHeader),
    /// 400: the event is not 1 to 255 visible ASCII characters.
    #[error("the event header is not 1 to 255 visible ASCII characters")]
    EventInvalid,
    /// 400: the body has no single length: `Content-Length` is repeated, is not a number or comes with
    /// `Transfer-Encoding`, or `Transfer-Encoding` is not `chunked` alone; or the request is for WebSocket,
    /// for which actix-web ignores the length.
    #[error("the Content-Length, Transfer-Encoding and Upgrade give the body no single length")]
    Framing,
    /// 413: the declared or the actual length of the body is over the receiver's limit.
    #[error("the body is over the limit of {limit} bytes: raise ReceiverBuilder::body_limit")]
    #[non_exhaustive]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// 413: the body is over the limit of another layer, such as `RequestBodyLimitLayer`.
    #[error(
        "a layer in front of the receiver limits bodies to less than the receiver: raise its limit to ReceiverBuilder::body_limit"
    )]
    LimitedByLayer,
    /// 500: an extractor or a middleware of the application read the body before the receiver: a length was declared,
    /// and the body ended without a byte and without an error.
    #[error(
        "another extractor or a middleware has read the body: the receiver must be the first to read it"
    )]
    AlreadyRead,
    /// 400: the body ended before it was complete.
    #[error("the body ended early")]
    Incomplete,
    /// 408: the body did not arrive within [`body_deadline`](crate::ReceiverBuilder::body_deadline), or within
    /// a deadline of the server.
    #[error("the body did not arrive in time")]
    Timeout,
    /// 503: the bodies that are arriving use up [`body_budget`](crate::ReceiverBuilder::body_budget).
    #[error(
        "unfinished bodies use up ReceiverBuilder::body_budget: deliveries are answered 503 until some have ended"
    )]
    Overloaded,
    /// 400: the body has no bytes, and no length was declared.
    #[error(
        "the body is empty: has a middleware or another extractor read it before the receiver?"
    )]
    Empty,
    /// 400: the body is not one well-formed JSON object, and no [repair](crate::Repair) makes it one; or it repeats a
    /// key, or holds what programs read in different ways, in unknown fields too: a number that no [`f64`] holds
    /// (`1e400`), more than 64 levels.
    #[error("the body is malformed JSON: {0}")]
    MalformedJson(MalformedJson),
    /// 400: neither header nor body names the job.
    #[error("the job id is missing in header and body")]
    JobIdMissing,
    /// 400: the header names the job by something that is not a job id.
    #[error("the job id in the header is invalid: {0}")]
    HeaderJobIdInvalid(InvalidJobId),
    /// 400: the body names the job by something that is not a job id.
    #[error("the job id in the body is invalid: {0}")]
    BodyJobIdInvalid(InvalidJobId),
    /// 422: header and body name different jobs.
    #[error("the job ids of header and body differ")]
    JobIdMismatch,
    /// 200: this version does not know the event, and either nothing is said about a job or an article, as in a ping, or
    /// the application uses an extractor, which handles known events only.
    #[error("the event is not known and was ignored")]
    EventIgnored,
    /// 422: the same, and the receiver [refuses unknown events](crate::ReceiverBuilder::refuse_unknown_events).
    #[error("the event is not known")]
    EventUnknown,
    /// 422: the body is not an article result, and the application uses an extractor.
    #[error("the body is no article result: {0}")]
    Undecodable(DecodeError),
}

debug_as_text!(Rejection);

/// The headers that the service adds to a delivery (service document, section 6.1).
///
/// ```
/// use article_webhook::{Rejection, ServiceHeader};
///
/// let rejection = Rejection::HeaderRepeated(ServiceHeader::JobId);
/// assert_eq!(rejection.to_string(), "the job id header is repeated");
/// assert_eq!(rejection.status(), 400);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // the service may add more
pub enum ServiceHeader {
    /// `X-Service-Event`, unless the receiver is configured with another name.
    Event,
    /// `X-Service-Job-Id`, unless the receiver is configured with another name.
    JobId,
}

impl std::fmt::Display for ServiceHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Event => "event",
            Self::JobId => "job id",
        })
    }
}
