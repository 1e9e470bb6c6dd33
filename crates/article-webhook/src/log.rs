//! What is logged, in one place: no token, no body, no header value but a job id, which is checked.
//! Without the feature `tracing` every function here is empty.

use std::{fmt::Display, time::SystemTime};

use crate::{Event, JobId, Refused, ServiceHeader, SinkFailure, target::Target};

#[cfg(feature = "tracing")]
mod enabled {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        time::UNIX_EPOCH,
    };

    use super::*;

    /// Refusals of strangers, of whom anyone can send as many as they like: one line a second.
    #[derive(Default)]
    pub(crate) struct Refusals {
        last: AtomicU64,
        unlogged: AtomicU64,
    }

    impl Refusals {
        pub(crate) fn log(&self, refused: &Refused, now: SystemTime) {
            let rejection = refused.rejection();
            if rejection.is_authentic() {
                let job_id = refused.job_id().map(JobId::as_str);
                tracing::warn!(
                    code = rejection.code(),
                    job_id,
                    "delivery refused: {rejection}"
                );
                return;
            }
            let now = now
                .duration_since(UNIX_EPOCH)
                .map_or(0, |now| now.as_secs());
            if self.last.swap(now, Ordering::Relaxed) == now {
                self.unlogged.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let unlogged = self.unlogged.swap(0, Ordering::Relaxed);
            tracing::warn!(
                code = rejection.code(),
                unlogged,
                "request refused: {rejection}"
            );
        }
    }

    pub(crate) fn let_in(job_id: &JobId, target: &str) {
        tracing::debug!(
            job_id = job_id.as_str(),
            target_label = target,
            "delivery let in"
        );
    }

    pub(crate) fn header_missing(header: ServiceHeader, job_id: &JobId) {
        tracing::warn!(
            job_id = job_id.as_str(),
            "the {header} header is missing: does a proxy strip it?"
        );
    }

    pub(crate) fn unknown_event(event: &Event) {
        tracing::warn!(
            event = event.as_str(),
            "this version does not know the event"
        );
    }

    pub(crate) fn sink_failed(failure: SinkFailure, job_id: &JobId) {
        tracing::error!(job_id = job_id.as_str(), "{failure}");
    }

    pub(crate) fn retry(error: &dyn Display) {
        tracing::warn!("the handler failed and asks for another attempt: {error}");
    }

    pub(crate) fn short_token(target: &Target) {
        if target.token.is_short() {
            tracing::warn!(
                target_label = &*target.label,
                "the token has fewer than 16 characters and can be guessed: configure a longer one"
            );
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use super::*;

    #[derive(Default)]
    pub(crate) struct Refusals;

    impl Refusals {
        #[allow(clippy::unused_self)]
        pub(crate) fn log(&self, _: &Refused, _: SystemTime) {}
    }

    pub(crate) fn let_in(_: &JobId, _: &str) {}
    pub(crate) fn header_missing(_: ServiceHeader, _: &JobId) {}
    pub(crate) fn unknown_event(_: &Event) {}
    pub(crate) fn sink_failed(_: SinkFailure, _: &JobId) {}
    pub(crate) fn retry(_: &dyn Display) {}
    pub(crate) fn short_token(_: &Target) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;
