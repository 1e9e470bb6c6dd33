//! Several nodes with one database, and an application beside them.

use std::time::{Duration, Instant};

use article_webhook_inbox::{
    Filter,
    store::{Claim, Outcome, Recorded, Settled, Store},
};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;
use tokio_postgres::{IsolationLevel, error::SqlState};

use crate::{
    CLAIM, Scene, arrival, record_each,
    scene::{self, wait},
};

#[test]
fn nodes_that_start_at_once_make_one_schema() {
    let Some(scene) = Scene::shared() else { return };
    let stores = wait(async {
        let mut starts = JoinSet::new();
        for _ in 0..8 {
            starts.spawn(PostgresStore::connect(scene.settings.clone()));
        }
        starts.join_all().await
    });
    for store in stores {
        assert_eq!(wait(store.unwrap().counts()).unwrap().total(), 0);
    }
}

#[test]
fn an_entry_shows_the_node_that_has_it_and_so_does_the_server() {
    let Some(scene) = Scene::shared() else { return };
    wait(async {
        let of_node = |name| PostgresStore::connect(scene.settings.clone().node(name).unwrap());
        let (web, jobs) = (of_node("web-1").await.unwrap(), of_node("jobs-1").await.unwrap());
        let shown = async || {
            let entries = web.list(Filter::default()).await.unwrap().items;
            entries.into_iter().map(|entry| entry.node).collect::<Vec<_>>()
        };
        record_each(&web, &["job_1", "job_2"]).await;
        assert_eq!(shown().await, [None, None]);
        let one = Claim { limit: 1, ..CLAIM };
        let first = web.claim(one).await.unwrap().claimed[0].lease;
        jobs.claim(one).await.unwrap();
        let both = [Some("web-1".into()), Some("jobs-1".into())];
        assert_eq!(shown().await, both);

        let application = scene.client().await;
        let completion = web.completion(first).unwrap();
        assert_eq!(scene::complete(&application, &completion).await.unwrap(), 1);
        assert_eq!(shown().await, both, "it had it last");

        let names = "SELECT DISTINCT application_name FROM pg_stat_activity WHERE application_name IN \
            ('article_inbox web-1', 'article_inbox jobs-1')";
        assert_eq!(application.query(names, &[]).await.unwrap().len(), 2);
    });
}

#[test]
fn a_pause_holds_for_the_next_claim_of_every_node_and_so_does_its_end() {
    let Some(scene) = Scene::shared() else { return };
    let (one, other) = (scene.store(), scene.store());
    wait(async move {
        one.record(arrival("job_1", "{}")).await.unwrap();
        one.pause("ops@db1".into()).await.unwrap();
        let paused = other.claim(CLAIM).await.unwrap();
        assert!(paused.claimed.is_empty());
        assert_eq!(paused.paused_since.unwrap().by.as_deref(), Some("ops@db1"));
        assert!(paused.next_due.unwrap() <= other.now() + Claim::PAUSED_INTERVAL);
        one.resume().await.unwrap();
        assert_eq!(other.claim(CLAIM).await.unwrap().claimed.len(), 1);
    });
}

#[test]
fn an_application_that_holds_an_entry_keeps_nobody_waiting() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async {
        record_each(&store, &["job_1", "job_2"]).await;
        let mut application = scene.client().await;
        let claim = async || {
            let claimed = store.claim(CLAIM).await.unwrap().claimed;
            assert_eq!(claimed.len(), 1);
            (claimed[0].key.job_id.to_string(), claimed[0].lease)
        };
        let transaction = application.transaction().await.unwrap();
        let hold = "SELECT FROM article_inbox_entries WHERE job_id = 'job_1' FOR UPDATE";
        transaction.batch_execute(hold).await.unwrap();
        let (job, second) = claim().await;
        assert_eq!(job, "job_2", "it does not wait for the other");
        transaction.rollback().await.unwrap();
        let (job, first) = claim().await;
        assert_eq!(job, "job_1");

        let leases = [first, second];
        let kept = Recorded::Conflict { kept: true };
        let other = store.record(arrival("job_1", "{ }")).await.unwrap();
        assert_eq!(other, kept, "a lease alone is no lock");
        let completion = store.completion(leases[0]).unwrap();
        let transaction = application.transaction().await.unwrap();
        assert_eq!(scene::complete(&transaction, &completion).await.unwrap(), 1);

        let unblocked = async {
            assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Duplicate);
            let held = store.extend(&leases, Duration::from_secs(60)).await.unwrap();
            assert_eq!(held.len(), 2);
            assert!(store.claim(CLAIM).await.unwrap().claimed.is_empty());
        };
        unblocked.await;
        // The service sends another body again after ten seconds: it does not wait for the application. The machine may stop for a
        // moment, so that the quickest of five counts.
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let began = Instant::now();
            let error = store.record(arrival("job_1", "{  }")).await.unwrap_err();
            quickest = quickest.min(began.elapsed());
            let text = error.to_string();
            assert!(error.is_transient() && text.contains("holds the entry"), "{error:?}");
        }
        assert!(quickest < Duration::from_millis(1500), "it waits as long as others: {quickest:?}");
        transaction.commit().await.unwrap();
        assert_eq!(store.settle(leases[0], Outcome::Done).await.unwrap(), Settled::AlreadyDone);
        assert_eq!(store.record(arrival("job_1", "{  }")).await.unwrap(), kept);
    });
}

/// An application whose transactions are stricter than the default gets an error, and no second row.
#[test]
fn a_lease_that_was_renewed_conflicts_with_a_transaction_that_is_stricter() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async {
        store.record(arrival("job_1", "{}")).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let mut application = scene.client().await;
        let strict = application.build_transaction().isolation_level(IsolationLevel::Serializable);
        let transaction = strict.start().await.unwrap();
        transaction.query_one("SELECT 1", &[]).await.unwrap();
        store.extend(&[lease], CLAIM.lease * 2).await.unwrap();
        let completion = store.completion(lease).unwrap();
        let refused = scene::complete(&transaction, &completion).await;
        let code = refused.unwrap_err().code().cloned();
        assert_eq!(code, Some(SqlState::T_R_SERIALIZATION_FAILURE));
        transaction.rollback().await.unwrap();
        assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled);
    });
}
