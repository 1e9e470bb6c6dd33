//! The rates of the inbox in PostgreSQL, on the disk of the target folder and on a private server, compared with what an
//! application would write instead. Each figure is a ratio within this run, or is compared with a limit.
//!
//! ```text
//! cargo bench -p article-webhook-postgres --bench postgres                      all of it, in minutes
//! cargo bench -p article-webhook-postgres --bench postgres -- --long            more rounds, ten million done entries
//! cargo bench -p article-webhook-postgres --bench postgres -- record many       some of: record, many, flat
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a benchmark prints its figures

#[path = "../../../article-webhook-inbox/benches/inbox/bodies.rs"]
mod bodies;
mod claims;
mod contenders;
mod flat;
#[path = "../../../article-webhook-inbox/benches/inbox/form.rs"]
mod form;
#[path = "../../../article-webhook-inbox/benches/inbox/lines.rs"]
mod lines;
#[path = "../../../article-webhook-inbox/benches/inbox/load.rs"]
mod load;
mod many;
mod record;
#[expect(dead_code, reason = "a server makes its own folder")]
#[path = "../../../article-webhook-inbox/benches/inbox/scratch.rs"]
mod scratch;
#[path = "../../tests/common/server.rs"]
mod server;
#[path = "../../../article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::env;

use article_webhook_postgres::{PostgresSettings, PostgresStore};
use form::Form;
use tokio_postgres::{Client, NoTls};

fn main() {
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let form = Form::of(&arguments);
    type Part = (&'static str, fn(Form));
    let parts: [Part; 3] = [("record", record::run), ("many", many::run), ("flat", flat::run)];
    let is_asked = |name: &str| arguments.iter().any(|argument| argument == name);
    let are_all = !parts.iter().any(|(name, _)| is_asked(name));
    for (name, run) in parts {
        if are_all || is_asked(name) {
            run(form);
        }
    }
}

/// A runtime as `#[tokio::main]` makes it.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

/// A server on the disk that is measured, with the memory that a small one has. `None` without PostgreSQL, which is reported.
fn server() -> Option<server::Server> {
    let settings = ["shared_buffers = 512MB", "max_wal_size = 4GB", "max_connections = 400"];
    server::Server::start_in(&scratch::parent(), &settings)
}

/// A store in a schema of its own.
async fn store(url: &str, schema: &str) -> PostgresStore {
    let settings = PostgresSettings::new(url).unwrap().schema(schema).unwrap();
    PostgresStore::connect(settings).await.unwrap()
}

/// A connection beside the store's.
async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
