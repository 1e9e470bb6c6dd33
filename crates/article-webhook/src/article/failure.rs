use super::{Drift, drift::ReportDrift};
use crate::json::{FromJson, Kind};

/// The states of a failed job, in lower case. The document names none; these are the words that senders use.
const STATES: [&str; 4] = ["failed", "error", "cancelled", "canceled"];

/// The error codes of the service (service document, section 7).
const CODES: [&str; 9] = [
    "invalid_api_key",
    "credits_exhausted",
    "not_configured",
    "rate_limit_exceeded",
    "job_not_found",
    "generation_failed",
    "ga4_not_connected",
    "invalid_request",
    "plan_required",
];

/// The state of a failed job that this status names, in any letter case.
pub(super) fn failed_state(status: &str) -> Option<&'static str> {
    STATES.into_iter().find(|state| state.eq_ignore_ascii_case(status))
}

/// A documented error code, in the field `error` of a body.
pub(crate) struct ErrorCode(pub(super) &'static str);

impl FromJson for ErrorCode {
    const EXPECTED: &'static str = "an error code";

    fn text(text: &str) -> Option<Self> {
        CODES.into_iter().find(|&code| code == text).map(Self)
    }
}

/// The document has errors instead of results, and none inside a result.
impl ReportDrift for ErrorCode {
    const IS_DOCUMENTED: bool = false;

    fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        drift.push(Drift::unknown_field(path, Kind::String));
    }
}
