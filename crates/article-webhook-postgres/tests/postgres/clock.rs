//! The time of the database.

use std::time::Duration;

use article_webhook_inbox::store::Store as _;
use article_webhook_postgres::PostgresStore;

use crate::{
    CLAIM, fresh,
    scene::{self, wait},
    schema,
    server::shared_url,
};

/// As after a failover. A worker waits for what is due by the clock of the server that says so.
#[test]
fn a_claim_tells_the_time_of_its_server() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    wait(async move {
        let store = PostgresStore::connect(settings).await.unwrap();
        let application = scene::connect(&url).await;
        let defined = format!("SELECT pg_get_functiondef('{schema}.article_inbox_claim'::regproc)");
        let defined: String = application.query_one(&defined, &[]).await.unwrap().get(0);
        let behind =
            defined.replace("clock_timestamp()) * 1000", "clock_timestamp()) * 1000 - 3600000");
        assert_ne!(behind, defined);
        application.batch_execute(&behind).await.unwrap();
        let before = store.now();
        store.claim(CLAIM).await.unwrap();
        let back = before.duration_since(store.now()).unwrap();
        assert!(back > Duration::from_secs(3000), "{back:?}");
    });
}
