//! Entries that a worker completes, beside jobs of the crate graphile_worker, in the same run and on the same server.
//!
//! ```text
//! cargo bench --manifest-path tests/postgres/Cargo.toml --target-dir target/applications -p article-postgres-speed
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a benchmark prints its figures

#[expect(dead_code, reason = "deliveries are not measured here")]
#[path = "../../../crates/article-webhook-inbox/benches/inbox/bodies.rs"]
mod bodies;
mod claims;
#[expect(dead_code, reason = "entries are counted here, and not turns")]
#[path = "../../../crates/article-webhook-inbox/benches/inbox/form.rs"]
mod form;
mod graphile;
#[expect(dead_code, reason = "folders are not measured here")]
#[path = "../../../crates/article-webhook-inbox/benches/inbox/scratch.rs"]
mod scratch;
#[path = "../../../crates/article-webhook-postgres/tests/common/server.rs"]
mod server;
#[path = "../../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use article_webhook_postgres::{PostgresSettings, PostgresStore};
use form::{Form, median};
use graphile::Way;
use table::{Table, at_least, plain};

const ENTRIES: usize = 5_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let form = Form::of(&arguments);
    let Some(server) = server() else { return };
    let url = server.url();
    let runtime = runtime();
    let mut table = Table::new(
        "peers: graphile_worker",
        "entries of 16 KB a second, claimed and completed with 16 handlers at once, beside graphile_worker: as it is, and with \
         its local queue and delayed completions, which a crash loses",
        &["handlers at once", "inbox", "graphile_worker", "inbox : it", "with its queue", "inbox : it"],
    );
    for concurrency in [4, 16, 64] {
        let mut rates = Vec::new();
        for round in 0..form.rounds() {
            rates.push(runtime.block_on(async {
                let schema = format!("inbox_{concurrency}_{round}");
                let store = store(&url, &schema).await;
                claims::deliver(&store, ENTRIES, 16 * 1024).await;
                let own = claims::rate(store, concurrency, ENTRIES).await;
                let plain = graphile::rate(&url, Way::Plain, concurrency, ENTRIES).await;
                let queue = graphile::rate(&url, Way::Queue, concurrency, ENTRIES).await;
                [own, plain, queue]
            }));
        }
        let rate = |index: usize| median(rates.iter().map(|rates| rates[index]));
        let ratio = |index: usize| median(rates.iter().map(|rates| rates[0] / rates[index]));
        let beside = match concurrency {
            16 => at_least(ratio(1), 1.0, " ×"),
            _ => plain(ratio(1), " ×"),
        };
        let figures =
            [plain(rate(0), ""), plain(rate(1), ""), beside, plain(rate(2), ""), plain(ratio(2), " ×")];
        table.row(concurrency, figures);
    }
    println!("{table}");
}

fn server() -> Option<server::Server> {
    let settings = ["shared_buffers = 512MB", "max_wal_size = 4GB"];
    server::Server::start_in(&scratch::parent(), &settings)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

async fn store(url: &str, schema: &str) -> PostgresStore {
    let settings = PostgresSettings::new(url).unwrap().schema(schema).unwrap();
    PostgresStore::connect(settings).await.unwrap()
}
