//! Metrics (feature `metrics`) and log events (feature `tracing`). Without the features the functions are empty.
//!
//! No name, label or field contains a body, a token, a URL, or an intent. What the service answered, and why a call
//! failed, appears in log events alone, unless `article_webhook::hide_causes` was called. A job id appears in log
//! events alone, as a text, which the subscriber escapes.

#[cfg(feature = "metrics")]
pub mod metric;

mod figures;

mod count;
mod log;

use std::time::Duration;

use article_webhook::{DecodeError, JobId};
use article_webhook_inbox::{Error, ExpectedJob, JobState, store::AskOutcome};

pub(crate) use figures::Figures;

/// An order ended.
pub(crate) fn order_ended(outcome: &'static str) {
    count::order_ended(outcome);
}

/// The service took an order.
pub(crate) fn ordered(job_id: &JobId) {
    log::ordered(job_id);
}

/// The service took an order, and the store could not note it now.
pub(crate) fn order_not_noted(job_id: &JobId, error: &Error) {
    log::order_not_noted(job_id, error);
}

/// It is not known whether the service took an order.
pub(crate) fn order_unknown(cause: &dyn std::fmt::Display) {
    log::order_unknown(cause);
}

/// The outcome of these orders was unknown when the collector began.
pub(crate) fn orders_left_unknown(orders: usize) {
    log::orders_left_unknown(orders);
}

/// An ask was answered, or was not, after this time.
pub(crate) fn asked(job: &ExpectedJob, answer: &'static str, took: Duration) {
    count::asked(answer, took);
    log::asked(job, answer, took);
}

/// The outcome of an ask is stored. The job is in this state now, and was expected for this time. `undecodable`: why what
/// the API answered cannot be decoded.
pub(crate) fn settled(
    job: &ExpectedJob,
    outcome: &AskOutcome,
    undecodable: Option<&DecodeError>,
    state: JobState,
    expected_for: Duration,
) {
    count::settled(job, undecodable, state, expected_for);
    log::settled(job, outcome, undecodable, state, expected_for);
}

/// The outcome of an ask is dropped.
pub(crate) fn lost_lease(job: &ExpectedJob) {
    count::lost_lease();
    log::lost_lease(job);
}

/// An ask ended without an outcome, because this crate or the store panicked.
pub(crate) fn ask_panicked() {
    count::asked_nothing();
    log::ask_panicked();
}

/// The service refused the API key.
pub(crate) fn key_refused() {
    count::key_refused();
    log::key_refused();
}

/// The service answered 429, with this pause.
pub(crate) fn rate_limited(pause: Duration) {
    log::rate_limited(pause);
}

/// The service cannot serve any call for this time.
pub(crate) fn unavailable(pause: Duration) {
    log::unavailable(pause);
}

/// A call of the store failed. Nothing else reports the error.
pub(crate) fn store_failed(call: &'static str, error: &Error) {
    count::store_failed(call);
    log::store_failed(call, error);
}

/// This many loops ask.
pub(crate) fn running(loops: u32) {
    count::running(loops);
}

/// A loop ended with an error.
pub(crate) fn collector_failed(error: &Error) {
    log::collector_failed(error);
}

/// A person or a probe asked for the figures.
pub(crate) fn health(figures: &Figures) {
    count::health(figures);
}

/// The figures, once in a while.
pub(crate) fn summary(figures: &Figures) {
    log::summary(figures);
}

/// An ask came too late to be sent: the store took longer than its token is valid.
pub(crate) fn token_lost() {
    count::token_lost();
}

/// The store takes too long to hand out asks.
pub(crate) fn tokens_are_lost() {
    log::tokens_are_lost();
}
