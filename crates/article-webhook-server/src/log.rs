//! All log events. None holds a part of a request. Without the feature `tracing` every function here is empty.

use std::time::Duration;

use crate::slot::Counts;

/// What another connection would need.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Missing {
    Slot,
    Descriptor,
}

#[cfg(feature = "tracing")]
pub(crate) fn no_room(missing: Missing, age: Duration, counts: &Counts) {
    let message = match missing {
        Missing::Slot => {
            "the server is full: a new connection waits until one ends. Strangers can cause this, \
             and a proxy can limit them"
        }
        Missing::Descriptor => {
            "the process has no file descriptor left: a new connection waits until one ends. Raise \
             its limit, or set max_connections below it"
        }
    };
    tracing::warn!(
        target: "article_webhook_server",
        seconds = age.as_secs(),
        silent = counts.silent,
        waiting_for_head = counts.head,
        waiting_for_body = counts.body,
        processing = counts.processing,
        not_reading = counts.unread,
        closing = counts.closing,
        "{message}"
    );
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn no_room(_: Missing, _: Duration, _: &Counts) {}
