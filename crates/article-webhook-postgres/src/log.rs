//! Log events (feature `tracing`). Without the feature the functions are empty.

#[cfg(feature = "tracing")]
mod enabled {
    use tracing::{info, warn};

    use crate::settings::{PostgresSettings, Protection};

    /// That of the inbox, so that one filter selects all.
    const TARGET: &str = "article_webhook_inbox";

    /// `version` is that of the tables.
    pub(crate) fn opened(settings: &PostgresSettings, version: usize) {
        let PostgresSettings { node, schema, .. } = settings;
        let connection = match settings.protection() {
            Protection::Tls => "TLS",
            Protection::ThisMachine => "to this machine",
            Protection::Plaintext => "plaintext",
        };
        info!(target: TARGET, node, schema, schema_version = version, connection, "the inbox in PostgreSQL is open");
    }

    pub(crate) fn notifications_missing() {
        let advice = "workers find what they store at their next poll. A pooler that gives each transaction another \
            connection lets none through; a URL that leads to PostgreSQL itself makes it sooner";
        info!(target: TARGET, "notifications of other nodes do not arrive: {advice}");
    }

    /// An operator should know this of the server.
    pub(crate) fn found(finding: &str) {
        warn!(target: TARGET, "{finding}");
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use crate::settings::PostgresSettings;

    pub(crate) fn opened(_: &PostgresSettings, _: usize) {}
    pub(crate) fn notifications_missing() {}
    pub(crate) fn found(_: &str) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;
