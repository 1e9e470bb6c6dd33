//! What it costs that an application completes an entry in its own transaction.

use std::fs;

use article_webhook_inbox::store::{Lease, Outcome, Settled, Store};
use article_webhook_postgres::PostgresStore;
use tokio_postgres::{
    Client,
    types::{ToSql, Type},
};

use crate::{CLAIM, arrival, fresh, scene, scene::wait, server::Server};

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
        // A notification may come in between, and locks nothing.
        assert!(!log.contains("UPDATE"), "it is only read: {log}");

        // What the application has not completed, the worker does.
        assert_eq!(store.settle(leases[1], Outcome::Done).await.unwrap(), Settled::Settled);
        assert_eq!(written(&application).await, before + 1);
    });
}
