//! The store behind PgBouncer, which gives each transaction another connection. The target `postgres_model` makes every call so.

use std::{
    fs,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Inbox, store::Store as _};
use article_webhook_inbox_contract::arrival;
use article_webhook_postgres::{PostgresSettings, PostgresStore, connect};
use tokio_postgres::NoTls;

use crate::{bouncer::Bouncer, log, scene, server::Server};

/// The URL of a database of the PgBouncer that the tests of this process share. `None` if there is no PgBouncer, which is
/// reported.
fn shared_url(database: &str) -> Option<String> {
    static SHARED: OnceLock<Option<(Bouncer, Server)>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        let server = Server::start(&[])?;
        Some((Bouncer::before(&server)?, server))
    });
    let (bouncer, _) = shared.as_ref()?;
    Some(format!("postgresql://postgres@127.0.0.1:{}/{database}", bouncer.port))
}

#[test]
fn a_pooler_that_gives_each_statement_another_connection_is_refused() {
    let Some(url) = shared_url("by_statement") else { return };
    let start = Instant::now();
    let error = scene::wait(connect(&url)).unwrap_err();
    let reported = "the pooler before PostgreSQL refuses: transaction blocks not allowed in statement pooling mode: set \
        pool_mode to transaction or session";
    assert_eq!(error.to_string(), reported);
    assert!(!error.is_transient());
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// No notification comes through such a pooler, which is logged once.
#[test]
fn a_worker_finds_behind_a_pooler_what_another_node_has_stored() {
    let Some(url) = shared_url("by_transaction") else { return };
    log::keep();
    scene::wait(async move {
        let settings = PostgresSettings::new(&url).unwrap().schema(&scene::fresh_schema()).unwrap();
        let [receiver, worker] = [
            PostgresStore::connect(settings.clone()).await.unwrap(),
            PostgresStore::connect(settings).await.unwrap(),
        ]
        .map(Inbox::new);
        let (worker, mut handled) = scene::work(&worker, Duration::from_millis(200));
        // The last is stored after the worker has given up listening.
        for (job, pause) in [("job_1", 0), ("job_2", 6)] {
            tokio::time::sleep(Duration::from_secs(pause)).await;
            let delivery = fixture::complete().job_id(job).delivery().unwrap();
            assert_eq!(receiver.accept(delivery).await, Reply::Stored);
            let found = tokio::time::timeout(Duration::from_secs(30), handled.recv()).await;
            assert_eq!(found.expect("it polls").as_deref(), Some(job));
        }
        worker.abort();
    });
    let log = log::kept();
    let reported = "article_webhook_inbox: notifications of other nodes do not arrive";
    assert_eq!(log.matches(reported).count(), 1, "{log}");
}

/// Its connections to the pooler outlive the failover.
#[test]
fn a_server_that_became_a_standby_behind_a_pooler_is_reported() {
    let Some(mut server) = Server::start(&[]) else { return };
    let Some(bouncer) = Bouncer::before(&server) else { return };
    let url = format!("postgresql://postgres@127.0.0.1:{}/postgres", bouncer.port);
    let store = scene::wait(PostgresStore::connect(PostgresSettings::new(&url).unwrap())).unwrap();
    let store = Arc::new(store);
    let record = || scene::wait(store.record(arrival("job_1", "{}")));
    record().unwrap();
    server.crash();
    fs::write(server.folder().join("data/standby.signal"), "").unwrap();
    server.start_again();
    // Until the pooler has a connection, it ends those of its clients.
    let answers = async {
        while let Ok((client, connection)) = tokio_postgres::connect(&url, NoTls).await {
            tokio::spawn(connection);
            if client.simple_query("SELECT 1").await.is_ok() {
                return;
            }
        }
        panic!("the pooler is there");
    };
    scene::wait(answers);
    let start = Instant::now();
    loop {
        let error = scene::wait(store.probe()).unwrap_err();
        assert!(error.is_transient() && start.elapsed() < Duration::from_secs(10), "{error:?}");
        assert!(!error.to_string().contains("0A000"), "{error:?}");
        if error.to_string().starts_with("PostgreSQL allows no writing") {
            break;
        }
    }
    let promote =
        async { scene::connect(&server.url()).await.batch_execute("SELECT pg_promote()").await };
    scene::wait(promote).unwrap();
    let start = Instant::now();
    while let Err(error) = record() {
        assert!(error.is_transient() && start.elapsed() < Duration::from_secs(10), "{error:?}");
    }
}
