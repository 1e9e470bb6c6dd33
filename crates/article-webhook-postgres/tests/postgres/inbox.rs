//! How an inbox in PostgreSQL begins and ends.

use std::time::Duration;

use article_webhook_inbox::store::Store as _;
use article_webhook_postgres::PostgresStore;
use tokio::{runtime::Runtime, time::timeout};

use crate::{Scene, arrival, scene::wait};

#[test]
fn a_store_whose_runtime_has_ended_answers_calls_and_can_be_closed() {
    let Some(scene) = Scene::shared() else { return };
    let runtime = Runtime::new().unwrap();
    let store = runtime.block_on(PostgresStore::connect(scene.settings.clone())).unwrap();
    drop(runtime);
    wait(async move {
        let limit = Duration::from_secs(10);
        let recorded = timeout(limit, store.record(arrival("job_1", "{}"))).await.unwrap();
        assert_eq!(recorded.unwrap_err().to_string(), "the store has stopped");
        timeout(limit, store.close()).await.expect("nothing is in progress").unwrap();
    });
}

#[test]
fn neither_a_worker_nor_closing_waits_for_a_check() {
    let Some(scene) = Scene::shared() else { return };
    let scene = scene.with(|settings| settings.working_connections(1).unwrap());
    let store = scene.store();
    wait(async move {
        let mut program = scene.client().await;
        let holds = program.transaction().await.unwrap();
        let hold = "LOCK TABLE article_inbox_bodies IN ACCESS EXCLUSIVE MODE";
        holds.batch_execute(hold).await.unwrap();
        let checked = store.clone();
        let check = tokio::spawn(async move { checked.check().await });
        let waits = "SELECT FROM pg_locks WHERE relation = 'article_inbox_bodies'::regclass AND NOT granted";
        let limit = Duration::from_secs(30);
        let begun = async { while holds.query(waits, &[]).await.unwrap().is_empty() {} };
        timeout(limit, begun).await.expect("the check waits for the lock");
        timeout(limit, store.counts()).await.expect("the connection is free").unwrap();
        timeout(limit, store.close()).await.expect("it is not waited for").unwrap();
        assert!(!check.is_finished());
        holds.commit().await.unwrap();
        assert!(check.await.unwrap().unwrap().is_empty());
    });
}
