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
