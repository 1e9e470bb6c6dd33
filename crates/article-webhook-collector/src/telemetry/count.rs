//! Counters, gauges and histograms. The recorder is looked up each time, because it may be installed after the
//! collector was made.

use std::time::Duration;

use article_webhook::DecodeError;
use article_webhook_inbox::{ExpectedJob, JobState};

use super::figures::Figures;

#[cfg(feature = "metrics")]
mod enabled {
    use metrics::{counter, gauge, histogram};

    use super::*;
    use crate::telemetry::metric;

    pub(crate) fn order_ended(outcome: &'static str) {
        counter!(metric::ORDERS, "outcome" => outcome).increment(1);
    }

    pub(crate) fn asked(answer: &'static str, took: Duration) {
        counter!(metric::ASKS, "answer" => answer).increment(1);
        histogram!(metric::ASK_DURATION).record(took);
    }

    pub(crate) fn asked_nothing() {
        counter!(metric::ASKS, "answer" => "panicked").increment(1);
    }

    /// A body that is no article ends no job: its entry will be unhandled, and the job is asked for again.
    pub(crate) fn settled(
        job: &ExpectedJob,
        undecodable: Option<&DecodeError>,
        state: JobState,
        expected_for: Duration,
    ) {
        if state == JobState::Collected && undecodable.is_some() {
            return;
        }
        if !state.is_open() {
            counter!(metric::ENDED, "state" => state.as_str()).increment(1);
        }
        if state == JobState::Collected && job.reason.is_order() {
            histogram!(metric::COLLECTED_AFTER).record(expected_for);
        }
    }

    pub(crate) fn lost_lease() {
        counter!(metric::LOST_LEASES).increment(1);
    }

    pub(crate) fn key_refused() {
        counter!(metric::KEY_REFUSALS).increment(1);
    }

    pub(crate) fn store_failed(call: &'static str) {
        counter!(metric::STORE_FAILURES, "call" => call).increment(1);
    }

    pub(crate) fn running(loops: u32) {
        gauge!(metric::RUNNING).set(loops);
        // Registered with zero: an alarm on growth does not see a series that begins with one.
        counter!(metric::KEY_REFUSALS).increment(0);
    }

    pub(crate) fn token_lost() {
        counter!(metric::LOST_TOKENS).increment(1);
    }

    /// Counts are exact up to 2^53.
    pub(crate) fn health(figures: &Figures) {
        let Figures { counts, oldest, paused, tokens } = figures;
        gauge!(metric::EXPECTED).set(counts.open() as f64);
        gauge!(metric::OLDEST_EXPECTED).set(*oldest);
        gauge!(metric::OVERDUE).set(counts.overdue as f64);
        gauge!(metric::UNKNOWN_INTENTS).set(counts.unknown_intents as f64);
        gauge!(metric::RECOVERED).set(counts.recovered as f64);
        gauge!(metric::PAUSED).set(*paused);
        gauge!(metric::TOKENS).set(*tokens);
    }
}

#[cfg(not(feature = "metrics"))]
mod disabled {
    use super::*;

    pub(crate) fn order_ended(_: &'static str) {}
    pub(crate) fn asked(_: &'static str, _: Duration) {}
    pub(crate) fn asked_nothing() {}
    pub(crate) fn settled(_: &ExpectedJob, _: Option<&DecodeError>, _: JobState, _: Duration) {}
    pub(crate) fn lost_lease() {}
    pub(crate) fn key_refused() {}
    pub(crate) fn store_failed(_: &'static str) {}
    pub(crate) fn running(_: u32) {}
    pub(crate) fn token_lost() {}
    pub(crate) fn health(_: &Figures) {}
}

#[cfg(not(feature = "metrics"))]
pub(crate) use disabled::*;
#[cfg(feature = "metrics")]
pub(crate) use enabled::*;
