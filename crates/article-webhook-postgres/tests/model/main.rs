//! Random calls of a [`MemoryStore`](article_webhook_inbox::MemoryStore) and a
//! [`PostgresStore`](article_webhook_postgres::PostgresStore) on one stepped clock, as in the crate `article-webhook-inbox`.
//!
//! It runs 100 sequences, or 10,000 with `-- --long`, and then some behind `PgBouncer`, which gives each transaction another
//! connection. A difference is shrunk and printed with the seed of its sequence. `-- --seed 42` runs that sequence again.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program may
#![allow(clippy::unwrap_used)] // a store that cannot be made fails its tests

#[path = "../common/bouncer.rs"]
mod bouncer;
#[path = "../common/subject.rs"]
mod postgres;
#[path = "../common/scene.rs"]
mod scene;
#[path = "../common/server.rs"]
mod server;

#[path = "../../../article-webhook-inbox/tests/model/compare.rs"]
mod compare;
#[path = "../../../article-webhook-inbox/tests/model/ledger.rs"]
mod ledger;
#[path = "../../../article-webhook-inbox/tests/model/pair.rs"]
mod pair;
#[path = "../../../article-webhook-inbox/tests/model/step.rs"]
mod step;
mod subject;

use bouncer::Bouncer;
use server::Server;

fn main() {
    // Without a server, which is reported, there is nothing to compare.
    let Some(url) = server::shared_url() else { return };
    subject::use_server(url);
    compare::run(100, 10_000);

    let Some(server) = Server::start(&[]) else { return };
    let Some(bouncer) = Bouncer::before(&server) else { return };
    subject::use_server(format!("postgresql://postgres@127.0.0.1:{}/by_transaction", bouncer.port));
    print!("behind PgBouncer: ");
    compare::run(30, 3_000);
}
