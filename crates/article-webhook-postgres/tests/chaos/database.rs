//! What the superuser does with the database, beside the nodes.

use std::{
    thread,
    time::{Duration, Instant},
};

use tokio_postgres::{Client, SimpleQueryMessage};

use crate::scene::{self, wait};

/// The role of the nodes. A superuser would not run out of connections.
const ROLE: &str =
    "DO $$ BEGIN CREATE ROLE inbox LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$";

/// A database by the URL of its superuser. `*` stands for the role.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    url: String,
    /// The port of a proxy, which the nodes go through.
    proxy: Option<u16>,
    pub(crate) schema: String,
}

impl Database {
    /// A new schema in the database on these ports, one of which allows writing. It has a table for the effects of handlers.
    pub(crate) fn fresh(ports: &[u16]) -> Self {
        Self::fresh_in(ports, |_| {})
    }

    /// The same, after the role was prepared.
    pub(crate) fn fresh_in(ports: &[u16], prepare: impl FnOnce(&Client)) -> Self {
        let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let url =
            format!("postgresql://*@{}/postgres?target_session_attrs=read-write", hosts.join(","));
        let database = Self { url, proxy: None, schema: scene::fresh_schema() };
        let schema = &database.schema;
        database.run(ROLE);
        prepare(&database.connect());
        database.run(&format!(
            "CREATE SCHEMA {schema} AUTHORIZATION inbox; SET ROLE inbox; CREATE TABLE {schema}.effects (job_id text)"
        ));
        database
    }

    /// The nodes go through a proxy on this port.
    pub(crate) fn through(self, proxy: u16) -> Self {
        Self { proxy: Some(proxy), ..self }
    }

    /// The URL of the nodes.
    pub(crate) fn url(&self) -> String {
        match self.proxy {
            Some(port) => format!("postgresql://inbox@127.0.0.1:{port}/postgres"),
            None => self.url.replace('*', "inbox"),
        }
    }

    /// A connection of the superuser.
    pub(crate) fn connect(&self) -> Client {
        let url = self.url.replace('*', "postgres");
        wait(async move { scene::connect(&url).await })
    }

    /// Runs statements, and returns the rows of the last one.
    pub(crate) fn run(&self, statements: &str) -> Vec<Vec<String>> {
        rows(&self.connect(), statements).unwrap()
    }

    /// Changes a setting of the server, as in `name = 'value'`.
    pub(crate) fn set(&self, setting: &str) {
        self.run(&format!("ALTER SYSTEM SET {setting}"));
        self.run("SELECT pg_reload_conf()");
    }

    /// Waits until a statement returns a row.
    pub(crate) fn wait_for(&self, what: &str) {
        let start = Instant::now();
        while self.run(what).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(30), "it never holds: {what}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The rows of statements. A column without a value is empty.
pub(crate) fn rows(
    client: &Client,
    statements: &str,
) -> Result<Vec<Vec<String>>, tokio_postgres::Error> {
    let messages = wait(client.simple_query(statements))?;
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|at| row.get(at).unwrap_or_default().to_owned()).collect())
        }
        _ => None,
    };
    Ok(messages.into_iter().filter_map(row).collect())
}
