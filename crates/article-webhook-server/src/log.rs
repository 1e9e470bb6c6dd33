//! All log events. None holds a part of a request. Without the feature `tracing` every function here is empty.

use std::time::Duration;

use crate::slot::Activities;

/// What another connection would need.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Missing {
    Slot,
    Descriptor,
}

#[cfg(feature = "tracing")]
const TARGET: &str = "article_webhook_server";

#[cfg(feature = "tracing")]
pub(crate) fn no_room(missing: Missing, age: Duration, connections: &Activities) {
    let seconds = age.as_secs();
    match missing {
        Missing::Slot => tracing::warn!(
            target: TARGET,
            seconds,
            %connections,
            "the server is full: a new connection waits until one ends. Strangers can cause this, and a proxy in \
             front can limit them"
        ),
        Missing::Descriptor => tracing::warn!(
            target: TARGET,
            seconds,
            %connections,
            "the process has no file descriptor left: a new connection waits until one ends. Raise its limit, or set \
             max_connections below it"
        ),
    }
}

/// What the sender wrote is not in hyper's error.
#[cfg(feature = "tracing")]
pub(crate) fn refused_head(error: &hyper::Error) {
    let (status, advice) = match error.is_parse_too_large() {
        true => (431, "a head may have 16 KiB and 100 headers: look at what a proxy in front adds"),
        false => (400, "something that does not speak HTTP/1.1 sends to this port"),
    };
    tracing::warn!(
        target: TARGET,
        status,
        error = %error,
        "a request was refused before the application could see it; {advice}. Strangers can cause this, and it is logged at \
         most once in ten seconds"
    );
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn refused_head(_: &hyper::Error) {}

#[cfg(not(feature = "tracing"))]
pub(crate) fn no_room(_: Missing, _: Duration, _: &Activities) {}
