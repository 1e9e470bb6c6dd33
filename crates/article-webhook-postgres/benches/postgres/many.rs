use std::{
    io::Cursor,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use article_webhook::JobId;
use article_webhook_inbox::{EntryKey, Filter, Inbox, State};
use tokio::time::sleep;

use crate::{
    form::Form,
    lines::{PAGE, body, deliver, job_id, lines},
    table::{Table, at_least, at_most, plain},
};

/// How many entries a second are imported, requeued, discarded and erased beside another node, which works and receives. The bodies
/// are no articles: what is requeued is soon unhandled.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let entries = match form {
        Form::Short => 10_000,
        Form::Long => 100_000,
    };
    let (runtime, url) = (crate::runtime(), server.url());
    let mut table = Table::new(
        "postgres: many",
        "entries of 2 KB a second, in pages of 250, beside a node with 16 handlers and a delivery every 10 ms : rows of a bare table, \
         inserted in such pages",
        &["change", "entries", "seconds for 100,000", "a second", ": bare", "longest delivery"],
    );
    let bare = runtime.block_on(rate(entries, insert(&url, entries)));
    let (node, operator) = runtime.block_on(async {
        (crate::store(&url, "many").await, Inbox::new(crate::store(&url, "many").await))
    });
    let worker = Inbox::new(node.clone()).worker(|_| async { Ok(()) }).concurrency(16);
    let worker = runtime.spawn(worker.run(std::future::pending::<()>()));
    let mut row = |name: &str, change: Pin<Box<dyn Future<Output = u64> + '_>>| {
        let is_over = Arc::new(AtomicBool::new(false));
        let deliveries = runtime.spawn(deliver(node.clone(), Arc::clone(&is_over)));
        let rate = runtime.block_on(rate(entries, change));
        is_over.store(true, Relaxed);
        let longest = runtime.block_on(deliveries).unwrap();
        table.row(
            name,
            [
                entries.to_string(),
                at_most(100_000.0 / rate, 10.0, " s"),
                plain(rate, ""),
                at_least(rate / bare, 0.3, " ×"),
                at_most(longest.as_secs_f64() * 1000.0, 100.0, " ms"),
            ],
        );
    };
    let lines = lines(entries, State::Dead);
    row("import", Box::pin(async { operator.import(Cursor::new(&lines)).await.unwrap().added }));
    let dead = || Filter { state: Some(State::Dead), ..Filter::default() };
    row("requeue", Box::pin(async { operator.requeue_all(dead()).await.unwrap().count }));
    runtime.block_on(async {
        while operator.counts().await.unwrap().of(State::Unhandled) < u64::from(entries) {
            sleep(Duration::from_millis(100)).await;
        }
    });
    let pages = || (0..entries).step_by(PAGE as usize).map(|first| first..first + PAGE);
    let job = |number| job_id(number).parse::<JobId>().unwrap();
    row(
        "discard",
        Box::pin(async {
            let mut discarded = 0;
            for page in pages() {
                let keys = page.map(job).map(EntryKey::article).collect();
                let page = operator.ledger().discard(keys, "not wanted".into()).await.unwrap();
                discarded += page.into_iter().map(u64::from).sum::<u64>();
            }
            discarded
        }),
    );
    row(
        "erase",
        Box::pin(async {
            let mut erased = 0;
            for page in pages() {
                let jobs = page.map(job).collect();
                erased += operator.ledger().erase(jobs).await.unwrap().into_iter().sum::<u64>();
            }
            erased
        }),
    );
    worker.abort();
    println!("{table}");
}

/// How many a second are changed, which must be all.
async fn rate(entries: u32, change: impl Future<Output = u64>) -> f64 {
    let start = Instant::now();
    assert_eq!(change.await, u64::from(entries));
    f64::from(entries) / start.elapsed().as_secs_f64()
}

/// What an application would write: a key that is unique, and a body.
async fn insert(url: &str, rows: u32) -> u64 {
    let client = crate::connect(url).await;
    let table = "CREATE TABLE bare (id bigserial PRIMARY KEY, job_id text NOT NULL UNIQUE, body bytea NOT NULL)";
    client.batch_execute(table).await.unwrap();
    let mut inserted = 0;
    for first in (0..rows).step_by(PAGE as usize) {
        let numbers = first..first + PAGE;
        let ids: Vec<_> = numbers.clone().map(job_id).collect();
        let bodies: Vec<_> = numbers.map(|number| body(number).into_bytes()).collect();
        let insert =
            "INSERT INTO bare (job_id, body) SELECT * FROM unnest($1::text[], $2::bytea[])";
        inserted += client.execute(insert, &[&ids, &bodies]).await.unwrap();
    }
    inserted
}
