//! The rates of the inbox in PostgreSQL, on the disk of the target folder and on a private server, compared with what an
//! application would write instead. Each figure is a ratio within this run, or is compared with a limit.
//!
//! ```text
//! cargo bench -p article-webhook-postgres --bench postgres              in minutes
//! cargo bench -p article-webhook-postgres --bench postgres -- --long    more rounds
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a benchmark prints its figures

#[expect(dead_code, reason = "nothing works on the deliveries")]
#[path = "../../../article-webhook-inbox/benches/inbox/bodies.rs"]
mod bodies;
mod contenders;
#[path = "../../../article-webhook-inbox/benches/inbox/form.rs"]
mod form;
#[path = "../../../article-webhook-inbox/benches/inbox/load.rs"]
mod load;
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
    let arguments: Vec<String> = env::args().collect();
    record::run(Form::of(&arguments));
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
