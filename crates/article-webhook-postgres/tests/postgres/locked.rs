//! Entries that another program holds. What is about them waits, and nothing else.

use std::time::{Duration, Instant};

use article_webhook_inbox::store::{Recorded, Store as _};
use tokio::task::JoinSet;

use crate::{
    CLAIM, NewStore, arrival,
    scene::{self, wait},
};

/// They come one after the other, so that each has a transaction of its own or shares one with few.
#[test]
fn deliveries_about_many_locked_entries_leave_connections_to_the_others() {
    let Some(NewStore { url, schema, store, .. }) = NewStore::shared() else { return };
    wait(async move {
        for number in 0..24 {
            store.record(arrival(&format!("locked_{number}"), "{}")).await.unwrap();
        }
        let mut program = scene::connect(&url).await;
        let holds = program.transaction().await.unwrap();
        let hold = format!("SELECT FROM {schema}.article_inbox_entries FOR UPDATE");
        holds.batch_execute(&hold).await.unwrap();
        let (mut locked, mut slow) = (JoinSet::new(), 0);
        for number in 0..24 {
            let (node, known) = (store.clone(), format!("locked_{number}"));
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

/// The service delivers again after ten seconds: its sender does not wait for the transaction of an application.
#[test]
fn another_body_of_an_entry_that_an_application_completes_is_answered_at_once() {
    let Some(NewStore { url, store, .. }) = NewStore::shared() else { return };
    wait(async move {
        store.record(arrival("job_1", "{}")).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let other = || store.record(arrival("job_1", "{ }"));
        let kept = Recorded::Conflict { kept: true };
        assert_eq!(other().await.unwrap(), kept, "a lease alone is no lock");

        let completion = store.completion(lease).unwrap();
        let mut application = scene::connect(&url).await;
        let transaction = application.transaction().await.unwrap();
        assert_eq!(scene::complete(&transaction, &completion).await.unwrap(), 1);
        let mut quickest = Duration::MAX;
        // The machine may stop for a moment: the quickest of five counts.
        for _ in 0..5 {
            let began = Instant::now();
            let error = store.record(arrival("job_1", "{  }")).await.unwrap_err();
            quickest = quickest.min(began.elapsed());
            let text = error.to_string();
            assert!(error.is_transient() && text.contains("holds the entry"), "{error:?}");
        }
        assert!(quickest < Duration::from_millis(1500), "it waits as long as others: {quickest:?}");
        transaction.commit().await.unwrap();
        assert_eq!(store.record(arrival("job_1", "{  }")).await.unwrap(), kept);
    });
}
