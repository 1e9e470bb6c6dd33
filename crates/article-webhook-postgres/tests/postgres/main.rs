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
mod distant;
mod fill;
mod guide;
mod inbox;
mod lock_order;
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

use article_webhook_inbox::store::{Claim, Store as _};
use article_webhook_inbox_contract::{CLAIM_ONE, arrival};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

const CLAIM: Claim = Claim { limit: 100, lease: std::time::Duration::from_secs(60), ..CLAIM_ONE };

/// Settings for a new schema of a server.
fn fresh(url: &str) -> PostgresSettings {
    PostgresSettings::new(url).unwrap().schema(&scene::fresh_schema()).unwrap()
}

/// The schema of these settings.
fn schema(settings: &PostgresSettings) -> String {
    let reported = format!("{settings:?}");
    reported.split('"').find(|part| part.starts_with("test_")).unwrap().to_owned()
}

/// A store in a new schema.
struct NewStore {
    url: String,
    settings: PostgresSettings,
    schema: String,
    store: PostgresStore,
}

impl NewStore {
    /// On the server that the tests share, if there is one.
    fn shared() -> Option<Self> {
        server::shared_url().map(|url| Self::on(&url))
    }

    fn on(url: &str) -> Self {
        Self::with(url, |settings| settings)
    }

    fn with(url: &str, change: impl FnOnce(PostgresSettings) -> PostgresSettings) -> Self {
        let settings = change(fresh(url));
        let store = scene::wait(PostgresStore::connect(settings.clone())).unwrap();
        Self { url: url.to_owned(), schema: schema(&settings), settings, store }
    }
}

/// The changes of a section of `changes.txt`: what an operator does, what is then reported, and how it is undone.
fn changes(section: &str, schema: &str, role: &str) -> impl Iterator<Item = [String; 3]> {
    let mut sections = include_str!("changes.txt").split("\n== ");
    let begin = format!("{section}\n");
    let rows = sections.find_map(|section| section.strip_prefix(&begin)).expect("it is there");
    rows.trim().split("\n\n").map(move |row| {
        let lines: Vec<_> = row.lines().map(|line| named(line, schema, role)).collect();
        <[String; 3]>::try_from(lines).expect("a change has three lines")
    })
}

/// Statements with the names of a schema and a role in place of `S` and `R`.
fn named(statements: &str, schema: &str, role: &str) -> String {
    let words = statements.split(' ').map(|word| match word {
        "S" => schema.to_owned(),
        "R" => role.to_owned(),
        word => word.replace("S.", &format!("{schema}.")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Stores a delivery of each job.
async fn record_each(store: &PostgresStore, jobs: &[&str]) {
    for job in jobs {
        store.record(arrival(job, "{}")).await.unwrap();
    }
}

/// Ends the connections of inboxes.
const KILL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'article_inbox %'";

/// New tables, and a role that has every right to them and may create none: the schema, the role and its settings.
fn role_of_new_tables(url: &str) -> (String, String, PostgresSettings) {
    let NewStore { schema, .. } = NewStore::on(url);
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
