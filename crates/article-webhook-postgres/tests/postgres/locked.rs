//! Entries that another program holds. What is about them waits, and nothing else.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook_inbox::store::{Recorded, Store as _};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::{
    arrival, fresh,
    scene::{self, wait},
    schema,
    server::shared_url,
};

/// They come one after the other, so that each has a transaction of its own or shares one with few.
#[test]
fn deliveries_about_many_locked_entries_leave_connections_to_the_others() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    wait(async move {
        let store = Arc::new(PostgresStore::connect(settings).await.unwrap());
        for number in 0..24 {
            store.record(arrival(&format!("locked_{number}"), "{}")).await.unwrap();
        }
        let mut program = scene::connect(&url).await;
        let holds = program.transaction().await.unwrap();
        let hold = format!("SELECT FROM {schema}.article_inbox_entries FOR UPDATE");
        holds.batch_execute(&hold).await.unwrap();
        let (mut locked, mut slow) = (JoinSet::new(), 0);
        for number in 0..24 {
            let (node, known) = (Arc::clone(&store), format!("locked_{number}"));
            locked.spawn(async move { node.record(arrival(&known, "{ }")).await });
            let began = Instant::now();
            let recorded = store.record(arrival(&format!("new_{number}"), "{}")).await;
            assert_eq!(recorded.unwrap(), Recorded::Stored);
            slow += usize::from(began.elapsed() > Duration::from_millis(1500));
        }
        // The machine may have stopped for a moment.
        assert!(slow < 4, "{slow} of 24 waited for entries that are locked");
        holds.commit().await.unwrap();
        for recorded in locked.join_all().await {
            if let Err(error) = recorded {
                assert!(error.to_string().contains("holds the entry"), "{error:?}");
            }
        }
        let recorded = store.record(arrival("locked_0", "{  }")).await;
        assert!(recorded.is_ok_and(|recorded| recorded != Recorded::Duplicate));
    });
}
