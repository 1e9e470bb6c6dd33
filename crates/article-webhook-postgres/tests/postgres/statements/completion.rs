//! An application completes an entry in its own transaction: what that costs, and that nothing undoes it.

use std::{fs, time::Duration};

use article_webhook_inbox::{
    State,
    store::{Lease, Outcome, Settled, Store},
};
use article_webhook_postgres::PostgresStore;
use tokio_postgres::Client;

use crate::{CLAIM, NewStore, arrival, fresh, record_each, scene, scene::wait, server::Server};

/// How many transactions have written something.
async fn written(client: &Client) -> i64 {
    let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    client.query_one(next, &[]).await.unwrap().get(0)
}

async fn complete(client: &Client, store: &PostgresStore, lease: Lease) {
    let completion = store.completion(lease).unwrap();
    assert_eq!(scene::complete(client, &completion).await.unwrap(), 1);
}

#[test]
fn an_entry_that_its_application_has_completed_is_settled_by_one_transaction_that_only_reads() {
    let settings = ["log_statement = all", "log_min_messages = log", "autovacuum = off"];
    let Some(server) = Server::start(&settings) else { return };
    let url = server.url();
    wait(async move {
        let store = PostgresStore::connect(fresh(&url)).await.unwrap();
        record_each(&store, &["job_1", "job_2"]).await;
        let leases: Vec<_> =
            store.claim(CLAIM).await.unwrap().claimed.iter().map(|claimed| claimed.lease).collect();
        let application = scene::connect(&url).await;
        complete(&application, &store, leases[0]).await;

        let (before, log) = (written(&application).await, server.folder().join("log"));
        let logged = fs::read_to_string(&log).unwrap().len();
        assert_eq!(store.settle(leases[0], Outcome::Done).await.unwrap(), Settled::AlreadyDone);
        assert_eq!(written(&application).await, before);
        let log = fs::read_to_string(&log).unwrap().split_off(logged);
        // A notification may come in between, and locks nothing. So may the question whether the role has its rights, UPDATE among
        // them.
        let log = log.replace(", UPDATE", "");
        assert!(!log.contains("UPDATE"), "it is only read: {log}");

        // What the application has not completed, the worker does.
        assert_eq!(store.settle(leases[1], Outcome::Done).await.unwrap(), Settled::Settled);
        assert_eq!(written(&application).await, before + 1);
    });
}

/// The application's transaction ends between the moment in which a worker reads the entry and that in which it writes it.
#[test]
fn an_outcome_that_waited_for_the_application_does_not_undo_its_completion() {
    let Some(NewStore { url, schema, store, .. }) = NewStore::shared() else { return };
    wait(async move {
        store.record(arrival("job_1", "{}")).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let application = scene::connect(&url).await;
        application.batch_execute("BEGIN").await.unwrap();
        complete(&application, &store, lease).await;
        let settling = {
            let store = store.clone();
            let retry = Outcome::Retry { after: Duration::ZERO, cause: "late".into() };
            tokio::spawn(async move { store.settle(lease, retry).await })
        };
        let waits = format!(
            "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' AND pid IN \
             (SELECT pid FROM pg_locks WHERE relation = '{schema}.article_inbox_entries'::regclass)"
        );
        let other = scene::connect(&url).await;
        while other.query(&waits, &[]).await.unwrap().is_empty() {}
        application.batch_execute("COMMIT").await.unwrap();
        assert_eq!(settling.await.unwrap().unwrap(), Settled::AlreadyDone);
        assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
    });
}
