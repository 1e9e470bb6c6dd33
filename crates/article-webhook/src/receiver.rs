//! The order of checks: from the headers of a request to a delivery.

mod body_budget;
mod body_limit;
mod build_error;
mod builder;
#[cfg(feature = "capability")]
mod capability_urls;
mod content_headers;
mod delivery;
mod envelope;
mod headers;
mod intake;
mod receiver;
mod runs;
mod settings;

pub use build_error::BuildError;
pub use builder::ReceiverBuilder;
pub use delivery::Delivery;
pub use envelope::Envelope;
pub use headers::Headers;
pub use intake::Intake;
pub use receiver::Receiver;
pub(crate) use runs::{Entrance, Run, RunEnd, RunKey};

/// A receiver and a delivery for it, for the tests of this crate that must run without the feature `fixture`.
#[cfg(test)]
pub(crate) mod sample {
    use super::Receiver;
    use crate::AuthToken;

    pub(crate) const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";
    pub(crate) const BODY: &str = r#"{"job_id": "job_1"}"#;
    pub(crate) const HEADERS: [(&str, &str); 4] = [
        ("Authorization", TOKEN),
        ("Content-Type", "application/json"),
        ("X-Service-Event", "article.complete"),
        ("X-Service-Job-Id", "job_1"),
    ];

    pub(crate) fn token() -> AuthToken {
        AuthToken::new(TOKEN).unwrap()
    }

    pub(crate) fn receiver() -> Receiver {
        Receiver::new(token())
    }
}
