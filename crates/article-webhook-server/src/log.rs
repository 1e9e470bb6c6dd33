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
pub(crate) fn no_room(missing: Missing, age: Duration, connections: &Activities) {
    const TARGET: &str = "article_webhook_server";
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

#[cfg(not(feature = "tracing"))]
pub(crate) fn no_room(_: Missing, _: Duration, _: &Activities) {}
