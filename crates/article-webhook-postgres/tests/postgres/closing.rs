//! A store that is closed.

use std::time::Duration;

use article_webhook_inbox::store::Store as _;
use article_webhook_postgres::PostgresStore;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use crate::{
    CLAIM, NewStore, fresh,
    scene::{self, wait},
    server::shared_url,
};

#[test]
fn neither_a_worker_nor_closing_waits_for_a_check() {
    let Some(url) = shared_url() else { return };
    let NewStore { schema, store, .. } =
        NewStore::with(&url, |settings| settings.working_connections(1).unwrap());
    wait(async move {
        let mut program = scene::connect(&url).await;
        let holds = program.transaction().await.unwrap();
        let hold = format!("LOCK TABLE {schema}.article_inbox_bodies IN ACCESS EXCLUSIVE MODE");
        holds.batch_execute(&hold).await.unwrap();
        let checked = store.clone();
        let check = tokio::spawn(async move { checked.check().await });
        sleep(Duration::from_millis(300)).await;
        let limit = Duration::from_secs(10);
        timeout(limit, store.counts()).await.expect("the connection is free").unwrap();
        timeout(limit, store.close()).await.expect("it is not waited for").unwrap();
        assert!(!check.is_finished());
        holds.commit().await.unwrap();
        assert!(check.await.unwrap().unwrap().is_empty());
        assert!(store.check().await.is_err());
    });
}

#[test]
fn a_claim_of_a_closed_store_makes_no_connection() {
    let Some(url) = shared_url() else { return };
    let url = format!("{url}?application_name=closed");
    wait(async move {
        let store = PostgresStore::connect(fresh(&url)).await.unwrap();
        store.wake_with(Box::new(|| ()));
        store.close().await.unwrap();
        let program = scene::connect(&url).await;
        while connections(&program).await > 0 {
            sleep(Duration::from_millis(20)).await;
        }
        assert!(store.claim(CLAIM).await.is_err());
        // One that fails because the store is closed would be there for some milliseconds.
        for _ in 0..200 {
            assert_eq!(connections(&program).await, 0);
            sleep(Duration::from_millis(1)).await;
        }
    });
}

/// How many there are beside this one.
async fn connections(program: &Client) -> i64 {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'closed' AND pid <> pg_backend_pid()";
    program.query_one(count, &[]).await.unwrap().get(0)
}
