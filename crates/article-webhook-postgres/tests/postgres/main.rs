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
mod statements;
mod storage;
mod tampered;
#[cfg(feature = "tls")]
mod tls;

use article_webhook_inbox::store::{Claim, Recorded, Store as _};
use article_webhook_inbox_contract::{CLAIM_ONE, arrival};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use scene::wait;
use tokio_postgres::Client;

const CLAIM: Claim = Claim { limit: 100, lease: std::time::Duration::from_secs(60), ..CLAIM_ONE };

/// Ends the connections of inboxes.
const KILL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'article_inbox %'";

/// Settings for a new schema of a server.
fn fresh(url: &str) -> PostgresSettings {
    Scene::on(url).settings.clone()
}

/// An inbox in a schema of its own, whose tables the first store makes. Statements name the schema `S`, and the role of the inbox `R`.
struct Scene {
    /// That of the superuser.
    url: String,
    schema: String,
    role: String,
    settings: PostgresSettings,
}

impl Scene {
    /// On the server that the tests share, if there is one. Its role is the superuser.
    fn shared() -> Option<Self> {
        server::shared_url().map(|url| Self::on(&url))
    }

    /// The same, and a store.
    fn opened() -> Option<(Self, PostgresStore)> {
        Self::shared().map(|scene| {
            let store = scene.store();
            (scene, store)
        })
    }

    fn on(url: &str) -> Self {
        let (url, schema, role) = (url.to_owned(), scene::fresh_schema(), "postgres".to_owned());
        let settings = PostgresSettings::new(&url).unwrap().schema(&schema).unwrap();
        Self { url, schema, role, settings }
    }

    /// The same with a role of its own, which has no right yet.
    fn of_new_role() -> Option<Self> {
        let mut scene = Self::shared()?;
        scene.role = format!("role_of_{}", scene.schema);
        scene.run("CREATE ROLE R LOGIN");
        scene.settings = scene.settings_of(&scene.role, &scene.schema);
        Some(scene)
    }

    /// The same with tables, to which its role has every right. It may create none.
    fn of_role() -> Option<Self> {
        let scene = Self::of_new_role()?;
        wait(scene.settings_of("postgres", &scene.schema).migrate(None)).unwrap();
        scene.run(
            "GRANT USAGE ON SCHEMA S TO R; GRANT ALL ON ALL TABLES IN SCHEMA S TO R; \
             GRANT ALL ON ALL SEQUENCES IN SCHEMA S TO R",
        );
        Some(scene)
    }

    fn settings_of(&self, role: &str, schema: &str) -> PostgresSettings {
        let url = self.url.replace("postgres@", &format!("{role}@"));
        PostgresSettings::new(&url).unwrap().schema(schema).unwrap()
    }

    /// The same with other settings.
    fn with(mut self, change: impl FnOnce(PostgresSettings) -> PostgresSettings) -> Self {
        self.settings = change(self.settings.clone());
        self
    }

    fn store(&self) -> PostgresStore {
        wait(PostgresStore::connect(self.settings.clone())).unwrap()
    }

    /// Statements with the names of this schema and this role.
    fn named(&self, statements: &str) -> String {
        let words =
            statements.split(' ').map(|word| match word.trim_matches(['"', ';', ',', ':']) {
                "S" => word.replacen('S', &self.schema, 1),
                "R" => word.replacen('R', &self.role, 1),
                _ => word.replace("S.", &format!("{}.", self.schema)),
            });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Runs statements as the superuser.
    fn run(&self, statements: &str) {
        refusals::run(&self.url, &self.named(statements));
    }

    /// A connection of the superuser, for whom names without a schema are of this one.
    async fn client(&self) -> Client {
        let client = scene::connect(&self.url).await;
        let path = self.named("SET search_path = S");
        client.batch_execute(&path).await.unwrap();
        client
    }

    /// The changes of a section of `changes.txt`: what an operator does, what is then reported, and how it is undone.
    fn changes(&self, section: &str) -> impl Iterator<Item = [String; 3]> {
        let mut sections = include_str!("changes.txt").split("\n== ");
        let begin = format!("{section}\n");
        let rows = sections.find_map(|section| section.strip_prefix(&begin)).expect("it is there");
        rows.trim().split("\n\n").map(move |row| {
            let lines: Vec<_> = row.lines().map(|line| self.named(line)).collect();
            <[String; 3]>::try_from(lines).expect("a change has three lines")
        })
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // After a panic, which may leave what hinders this, a second one would end the tests.
        if self.role != "postgres" && !std::thread::panicking() {
            self.run("DROP OWNED BY R CASCADE; DROP ROLE R");
        }
    }
}

/// Stores a delivery of each job.
async fn record_each(store: &PostgresStore, jobs: &[&str]) {
    for job in jobs {
        store.record(arrival(job, "{}")).await.unwrap();
    }
}

/// Stores a delivery.
fn record(store: &PostgresStore, job: &str) -> Recorded {
    wait(store.record(arrival(job, "{}"))).unwrap()
}
