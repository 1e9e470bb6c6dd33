//! The store behind PgBouncer, which gives each transaction another connection. The target `postgres_model` makes every call so.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::Inbox;
use article_webhook_postgres::{PostgresSettings, PostgresStore, connect};

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
