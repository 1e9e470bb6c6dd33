//! What is particular to the store in PostgreSQL: what it refuses, what it survives, and how it shares a database.

#![allow(clippy::print_stderr)] // some times are printed
#![allow(clippy::unwrap_used)] // a server that does not answer fails its tests

#[path = "../common/log.rs"]
mod log;
#[path = "../common/proxy.rs"]
mod proxy;
#[path = "../common/scene.rs"]
mod scene;
#[path = "../common/server.rs"]
mod server;

mod advice;
mod clocks;
mod closing;
mod distant;
mod fill;
mod guide;
mod inbox;
mod lock_order;
mod locked;
mod moving;
mod network;
mod newer;
mod nodes;
mod notifications;
mod outages;
mod readiness;
mod refusals;
mod rights;
mod skipped;
mod statements;
mod storage;
mod tampered;
#[cfg(feature = "tls")]
mod tls;

use article_webhook_inbox::{
    Digest, EntryKey, Source,
    store::{Arrival, Claim},
};
use article_webhook_inbox_contract::CLAIM_ONE;
use article_webhook_postgres::{PostgresSettings, PostgresStore};

const CLAIM: Claim = Claim { limit: 100, lease: std::time::Duration::from_secs(60), ..CLAIM_ONE };

fn arrival(job: &str, body: &str) -> Arrival {
    Arrival {
        key: EntryKey::article(job.parse().unwrap()),
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest: Digest::of(body.as_bytes()),
        bytes: body.as_bytes().to_vec().into(),
    }
}

/// Settings for a new schema of a server.
fn fresh(url: &str) -> PostgresSettings {
    PostgresSettings::new(url).unwrap().schema(&scene::fresh_schema()).unwrap()
}

/// The schema of these settings.
fn schema(settings: &PostgresSettings) -> String {
    let reported = format!("{settings:?}");
    reported.split('"').find(|part| part.starts_with("test_")).unwrap().to_owned()
}

/// New tables, and a role that has every right to them and may create none: the schema, the role and its settings.
fn role_of_new_tables(url: &str) -> (String, String, PostgresSettings) {
    let settings = fresh(url);
    let schema = schema(&settings);
    scene::wait(PostgresStore::connect(settings)).unwrap();
    let role = format!("role_of_{schema}");
    refusals::run(
        url,
        &format!(
            "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}; \
             GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}; \
             GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {role}"
        ),
    );
    let url_of_role = url.replace("postgres@", &format!("{role}@"));
    let settings = PostgresSettings::new(&url_of_role).unwrap().schema(&schema).unwrap();
    (schema, role, settings)
}
