//! The answers, spelled out: what a sender must find on the wire, written without looking at the code that makes it.

/// One answer of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Besides `content-length`, `connection` and `date`.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) body: &'static str,
}

const JSON: (&str, &str) = ("content-type", "application/json");

const fn json(status: u16, body: &'static str) -> Answer {
    Answer { status, headers: &[JSON], body }
}

pub(crate) const STORED: Answer = json(200, r#"{"status":"stored"}"#);

pub(crate) const DUPLICATE: Answer = json(200, r#"{"status":"duplicate"}"#);

pub(crate) const UNAUTHORIZED: Answer = Answer {
    status: 401,
    headers: &[JSON, ("www-authenticate", "Bearer")],
    body: r#"{"error":"unauthorized","message":"the credentials are missing or wrong"}"#,
};

pub(crate) const METHOD_NOT_ALLOWED: Answer = Answer {
    status: 405,
    headers: &[("allow", "POST"), JSON],
    body: r#"{"error":"method_not_allowed","message":"deliveries are sent by POST"}"#,
};

/// A framework's own 405, where it routes the methods.
pub(crate) const ROUTED_AWAY: Answer =
    Answer { status: 405, headers: &[("allow", "POST")], body: "" };

pub(crate) const NO_RECEIVER: Answer = json(
    500,
    r#"{"error":"internal","message":"the application forgot its Receiver: add .app_data(receiver) to the App"}"#,
);

pub(crate) const RETRY_LATER: Answer = Answer {
    status: 503,
    headers: &[JSON, ("retry-after", "10")],
    body: r#"{"error":"retry_later","message":"the receiver asks for another attempt"}"#,
};

pub(crate) const UNAVAILABLE: Answer = Answer {
    status: 503,
    headers: &[JSON, ("retry-after", "10")],
    body: r#"{"error":"unavailable","message":"the receiver cannot store deliveries now"}"#,
};

/// The answer whose body says this word.
pub(crate) fn named(word: &str) -> Answer {
    let all = [
        STORED,
        DUPLICATE,
        json(200, r#"{"status":"ignored"}"#),
        json(
            400,
            r#"{"error":"bad_request","message":"a header of the service is missing, repeated or invalid"}"#,
        ),
        json(400, r#"{"error":"incomplete","message":"the body ended early"}"#),
        json(408, r#"{"error":"timeout","message":"the body did not arrive in time"}"#),
        json(
            400,
            r#"{"error":"malformed_json","message":"the body is not one well-formed JSON object"}"#,
        ),
        json(400, r#"{"error":"invalid_job_id","message":"the job id is missing or invalid"}"#),
        UNAUTHORIZED,
        METHOD_NOT_ALLOWED,
        json(
            413,
            r#"{"error":"payload_too_large","message":"the body is over the receiver's limit"}"#,
        ),
        json(
            415,
            r#"{"error":"unsupported_media_type","message":"expected application/json in UTF-8, not encoded"}"#,
        ),
        json(
            422,
            r#"{"error":"job_id_mismatch","message":"the job ids of header and body differ"}"#,
        ),
        json(
            422,
            r#"{"error":"unprocessable","message":"the delivery is authentic but not understood"}"#,
        ),
        json(500, r#"{"error":"internal","message":"the receiver failed"}"#),
        RETRY_LATER,
        UNAVAILABLE,
    ];
    let word = format!(":\"{word}\"");
    all.into_iter().find(|answer| answer.body.contains(&word)).expect("there is such an answer")
}
