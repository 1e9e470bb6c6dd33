use std::time::Duration;

use article_webhook_inbox::{Prune, store::Store as _};
use article_webhook_postgres::PostgresStore;
use tokio_postgres::Client;

use crate::{
    claims::{deliver, rate},
    fill,
    form::{Form, median},
    table::{Table, at_least, at_most, plain},
};

/// How much of their rate claims must keep.
const TARGET: f64 = 0.7;

/// What stands in the way of vacuum (a transaction), or of claims.
const BURDENS: [(&str, &str); 4] = [
    ("a snapshot is held", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"),
    ("a transaction is idle", "BEGIN; SELECT pg_current_xact_id()"),
    // Failures that the worker does not take, and leases of nodes that hang.
    (
        "100,000 stuck entries",
        "INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, \
         held, target, document, checksum) \
         SELECT 'job_stuck_' || n, CASE n % 2 WHEN 0 THEN 'generation failed' ELSE 'article.complete' END, \
         CASE n % 2 WHEN 0 THEN 'waiting' ELSE 'leased' END, 1, 1, 1000, 4000000000000, 1000, 1000, 0, 'blog', '{}', 0 \
         FROM generate_series(1, 100000) n; ANALYZE article_inbox_entries",
    ),
    ("many done entries", ""),
];

/// How much of what it has grown by a table may keep once retention has removed what is done.
const KEPT: f64 = 0.5;

/// The rate of claims with a burden, compared with the same without it, round by round.
pub(crate) fn run(form: Form) {
    let (rounds, entries, done) = match form {
        Form::Short => (5, 2_000, 500_000),
        Form::Long => (10, 10_000, 10_000_000),
    };
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let mut table = Table::new(
        "postgres: bloat",
        "entries of 1 KB a second that 16 handlers complete, in the first, the middle and the last round, and in the last three : \
         the same without the burden; and MiB of the tables of entries and of bodies then, two rounds after the burden and a vacuum, \
         and how much of what they have grown by they keep once retention has removed what is done",
        &[
            "burden", "first", "middle", "last", ": none", "entries", "later", "kept", "bodies",
            "later", "kept",
        ],
    );
    for (index, (name, burden)) in BURDENS.into_iter().enumerate() {
        let figures = runtime.block_on(async {
            // What is held in one database does not concern another.
            let database = format!("burden_{index}");
            let admin = crate::connect(&url).await;
            admin.batch_execute(&format!("CREATE DATABASE {database}")).await.unwrap();
            let other = format!("{}/{database}", url.rsplit_once('/').unwrap().0);
            let schema = format!("none_{index}");
            let stores = [crate::store(&url, &schema).await, crate::store(&other, "public").await];
            let (holder, client) = (crate::connect(&other).await, crate::connect(&other).await);
            match burden {
                "" => fill::done(&client, "public", done).await,
                burden => holder.batch_execute(burden).await.unwrap(),
            }
            let before = mebibytes(&client).await;
            let mut rates = Vec::new();
            for _ in 0..rounds {
                rates.push([round(&stores[0], entries).await, round(&stores[1], entries).await]);
            }
            let full = mebibytes(&client).await;
            let _ = holder.batch_execute("ROLLBACK").await;
            vacuum(&client).await;
            for _ in 0..2 {
                round(&stores[1], entries).await;
            }
            let later = mebibytes(&client).await;
            let kept = match burden.starts_with("BEGIN") {
                true => {
                    let pruned = pruned(&stores[1], &client).await;
                    let kept = |at: usize| (pruned[at] - before[at]) / (later[at] - before[at]);
                    [0, 1].map(|at| at_most(kept(at), KEPT, " ×"))
                }
                false => ["–", "–"].map(str::to_owned),
            };
            (rates, full, later, kept)
        });
        let (rates, full, later, [entries_kept, bodies_kept]) = figures;
        let last = &rates[rounds - 3..];
        let ratio = median(last.iter().map(|[none, burdened]| burdened / none));
        table.row(
            name,
            [
                plain(rates[0][1], ""),
                plain(rates[rounds / 2][1], ""),
                plain(rates[rounds - 1][1], ""),
                at_least(ratio, TARGET, " ×"),
                plain(full[0], ""),
                plain(later[0], ""),
                entries_kept,
                plain(full[1], ""),
                plain(later[1], ""),
                bodies_kept,
            ],
        );
    }
    println!("{table}");
}

async fn round(store: &PostgresStore, entries: usize) -> f64 {
    deliver(store, entries, 1024).await;
    rate(store.clone(), 16, entries).await
}

/// The sizes after retention has removed what is done.
async fn pruned(store: &PostgresStore, client: &Client) -> [f64; 2] {
    // One entry that was done just now would keep all pages before its own.
    let soon = store.now() + Duration::from_secs(60);
    let prune =
        Prune { bodies_before: soon, entries_before: soon, limit: 1000, ..Prune::default() };
    while store.prune(prune).await.unwrap().more {}
    vacuum(client).await;
    mebibytes(client).await
}

async fn vacuum(client: &Client) {
    for table in ["entries", "bodies"] {
        client.batch_execute(&format!("VACUUM article_inbox_{table}")).await.unwrap();
    }
}

/// The sizes of the entries and of their bodies. The files of their indexes never shrink: what is free in them is used again.
async fn mebibytes(client: &Client) -> [f64; 2] {
    let sizes = "SELECT pg_table_size('article_inbox_entries') / 1048576.0::float8, \
        pg_table_size('article_inbox_bodies') / 1048576.0::float8";
    let sizes = client.query_one(sizes, &[]).await.unwrap();
    [sizes.get(0), sizes.get(1)]
}
