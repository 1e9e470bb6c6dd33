//! What it costs that an application completes an entry in its own transaction.

use std::fs;

use article_webhook_inbox::store::{Lease, Outcome, Settled, Store};
use article_webhook_postgres::PostgresStore;
use tokio_postgres::{
    Client,
    types::{ToSql, Type},
};

use crate::{
    CLAIM, arrival, fresh, scene,
    scene::wait,
    schema,
    server::{Server, shared_url},
};

/// How many transactions have written something.
async fn written(client: &Client) -> i64 {
    let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    client.query_one(next, &[]).await.unwrap().get(0)
}

async fn complete(client: &Client, store: &PostgresStore, lease: Lease) {
    let completion = store.completion(lease).unwrap();
    let parameters = completion.parameters().iter();
    let parameters: Vec<_> =
        parameters.map(|value| (value as &(dyn ToSql + Sync), Type::INT8)).collect();
    assert_eq!(client.execute_typed(completion.sql(), &parameters).await.unwrap(), 1);
}

#[test]
fn an_entry_that_its_application_has_completed_is_settled_by_one_transaction_that_only_reads() {
    let settings = ["log_statement = all", "log_min_messages = log", "autovacuum = off"];
    let Some(server) = Server::start(&settings) else { return };
    let url = server.url();
    wait(async move {
        let store = PostgresStore::connect(fresh(&url)).await.unwrap();
        for job in ["job_1", "job_2"] {
            store.record(arrival(job, "{}")).await.unwrap();
        }
        let leases: Vec<_> =
            store.claim(CLAIM).await.unwrap().claimed.iter().map(|claimed| claimed.lease).collect();
        let application = scene::connect(&url).await;
        complete(&application, &store, leases[0]).await;

        let (before, log) = (written(&application).await, server.folder().join("log"));
        let logged = fs::read_to_string(&log).unwrap().len();
        assert_eq!(store.settle(leases[0], Outcome::Done).await.unwrap(), Settled::AlreadyDone);
        assert_eq!(written(&application).await, before);
        let log = fs::read_to_string(&log).unwrap().split_off(logged);
        assert_eq!(log.matches("article_inbox_complete(").count(), 1, "{log}");
        // A notification may come in between, and locks nothing.
        assert!(!log.contains("FOR UPDATE"), "the statement is enough: {log}");

        // What the application has not completed, the worker does.
        assert_eq!(store.settle(leases[1], Outcome::Done).await.unwrap(), Settled::Settled);
        assert_eq!(written(&application).await, before + 1);
    });
}

/// Tries until the entry was found locked: the statement looks for it during 14 ms.
#[test]
fn an_entry_that_is_locked_for_a_moment_is_completed_by_the_same_statement() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    wait(async move {
        let store = PostgresStore::connect(settings).await.unwrap();
        let (mut holder, observer) = (scene::connect(&url).await, scene::connect(&url).await);
        let completing = scene::connect(&url).await;
        let pid = "SELECT pg_backend_pid()";
        let pid: i32 = completing.query_one(pid, &[]).await.unwrap().get(0);
        for number in 0..100 {
            store.record(arrival(&format!("job_{number}"), "{}")).await.unwrap();
            let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
            let held = holder.transaction().await.unwrap();
            let lock = format!(
                "SELECT FROM {schema}.article_inbox_entries WHERE id = {} FOR UPDATE",
                lease.id
            );
            held.batch_execute(&lock).await.unwrap();

            let complete = format!(
                "SELECT {schema}.article_inbox_complete('{schema}', 500, NULL, ARRAY[{}]::bigint[], ARRAY[{}]::bigint[])",
                lease.id, lease.fence
            );
            let release = async {
                let waits = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $1";
                for _ in 0..20 {
                    let row = observer.query_one(waits, &[&pid]).await.unwrap();
                    if row.get::<_, Option<bool>>(0) == Some(true) {
                        held.rollback().await.unwrap();
                        return true;
                    }
                }
                held.rollback().await.unwrap();
                false
            };
            let (completed, was_locked) = tokio::join!(completing.query(&complete, &[]), release);
            if was_locked && completed.unwrap().len() == 1 {
                let settled = store.settle(lease, Outcome::Done).await.unwrap();
                assert_eq!(settled, Settled::AlreadyDone);
                return;
            }
        }
        panic!("what was locked for a moment was left a hundred times");
    });
}
