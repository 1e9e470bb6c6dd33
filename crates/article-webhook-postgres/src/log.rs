//! Log events (feature `tracing`). Without the feature the functions are empty.

#[cfg(feature = "tracing")]
mod enabled {
    use tracing::{info, warn};

    /// That of the inbox, so that one filter selects all.
    const TARGET: &str = "article_webhook_inbox";

    /// `version` is that of the tables, and `connection` how it is protected.
    pub(crate) fn opened(node: &str, schema: &str, version: usize, connection: &str) {
        info!(target: TARGET, node, schema, schema_version = version, connection, "the inbox in PostgreSQL is open");
    }

    pub(crate) fn notifications_missing() {
        let advice = "workers find the entries of those nodes only at their next poll. A pooler that gives each \
            transaction another connection drops notifications: give a URL that leads to PostgreSQL itself";
        info!(target: TARGET, "notifications of other nodes do not arrive: {advice}");
    }

    /// An operator should know this of the server.
    pub(crate) fn found(finding: &str) {
        warn!(target: TARGET, "{finding}");
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    pub(crate) fn opened(_: &str, _: &str, _: usize, _: &str) {}
    pub(crate) fn notifications_missing() {}
    pub(crate) fn found(_: &str) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;
