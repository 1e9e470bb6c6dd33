use std::time::Duration;

use http::HeaderName;

use super::body_limit::BodyLimit;

/// What a [`ReceiverBuilder`](super::ReceiverBuilder) sets.
pub(crate) struct Settings {
    pub(crate) body_limit: BodyLimit,
    pub(crate) body_budget: usize,
    pub(crate) body_deadline: Duration,
    pub(crate) event_header: HeaderName,
    pub(crate) job_id_header: HeaderName,
    pub(crate) strict: bool,
    pub(crate) unknown_events: UnknownEvents,
    pub(crate) answer_deadline: Duration,
    pub(crate) join_limit: Duration,
    pub(crate) remember_for: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_limit: BodyLimit(8 << 20),
            body_budget: 64 << 20,
            body_deadline: Duration::from_secs(30),
            event_header: HeaderName::from_static("x-service-event"),
            job_id_header: HeaderName::from_static("x-service-job-id"),
            strict: false,
            unknown_events: UnknownEvents::Ignore,
            answer_deadline: Duration::from_secs(5),
            join_limit: Duration::from_secs(120),
            remember_for: Duration::from_secs(15 * 60),
        }
    }
}

/// What an extractor does with an event that this version does not know.
#[derive(Clone, Copy)]
pub(crate) enum UnknownEvents {
    Ignore,
    Refuse,
}
