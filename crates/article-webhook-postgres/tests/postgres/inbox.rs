//! A whole inbox in PostgreSQL.

use std::{sync::Arc, time::Duration};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job, State, store::Store as _};
use article_webhook_postgres::PostgresStore;
use tokio::{runtime::Runtime, sync::Notify, time::timeout};

use crate::{arrival, fresh, log, scene::wait, schema, server::shared_url};

#[test]
fn a_start_logs_where_the_inbox_is() {
    let Some(url) = shared_url() else { return };
    log::keep();
    let settings = fresh(&url).node("web-1").unwrap();
    let schema = schema(&settings);
    wait(PostgresStore::connect(settings)).unwrap();
    let fields = format!(
        "node=\"web-1\" schema=\"{schema}\" schema_version=1 connection=\"to this machine\""
    );
    let kept = log::kept();
    let lines = kept.lines().filter(|line| line.contains(&fields)).collect::<Vec<_>>();
    assert_eq!(lines.len(), 1, "{kept}");
    assert!(
        lines[0].contains("INFO article_webhook_inbox: the inbox in PostgreSQL is open"),
        "{}",
        lines[0]
    );
}

#[test]
fn an_article_is_stored_once_and_handled_by_a_worker_of_another_node() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    wait(async move {
        let [receiver, other] = [
            PostgresStore::connect(settings.clone()).await.unwrap(),
            PostgresStore::connect(settings).await.unwrap(),
        ]
        .map(Inbox::new);
        let delivery = || fixture::complete().job_id("job_1").delivery().unwrap();
        assert_eq!(receiver.accept(delivery()).await, Reply::Stored);
        assert_eq!(other.accept(delivery()).await, Reply::Duplicate);

        let handled = Arc::new(Notify::new());
        let publish = {
            let handled = Arc::clone(&handled);
            move |job: Job| {
                assert_eq!(job.job_id().as_str(), "job_1");
                handled.notify_one();
                async { Ok::<(), Failed>(()) }
            }
        };
        let worker = tokio::spawn(other.worker(publish).run(async move {
            handled.notified().await;
        }));
        tokio::time::timeout(Duration::from_secs(30), worker).await.unwrap().unwrap().unwrap();
        assert_eq!(receiver.counts().await.unwrap().of(State::Done), 1);
        receiver.close().await.unwrap();
        assert_eq!(receiver.accept(delivery()).await, Reply::Unavailable);
    });
}

#[test]
fn a_store_whose_runtime_has_ended_answers_calls_and_can_be_closed() {
    let Some(url) = shared_url() else { return };
    let runtime = Runtime::new().unwrap();
    let store = runtime.block_on(PostgresStore::connect(fresh(&url))).unwrap();
    drop(runtime);
    wait(async move {
        let limit = Duration::from_secs(10);
        let recorded = timeout(limit, store.record(arrival("job_1", "{}"))).await.unwrap();
        assert_eq!(recorded.unwrap_err().to_string(), "the store has stopped");
        timeout(limit, store.close()).await.expect("nothing is in progress").unwrap();
    });
}
