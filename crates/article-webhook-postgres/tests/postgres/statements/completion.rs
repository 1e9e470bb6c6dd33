//! An application completes an entry in its own transaction, which nothing undoes.

use std::time::Duration;

use article_webhook_inbox::{
    State,
    store::{Outcome, Settled, Store},
};

use crate::{
    CLAIM, Scene, arrival,
    scene::{self, wait},
};

/// The application's transaction ends between the moment in which a worker reads the entry and that in which it writes it.
#[test]
fn an_outcome_that_waited_for_the_application_does_not_undo_its_completion() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async move {
        store.record(arrival("job_1", "{}")).await.unwrap();
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        let application = scene.client().await;
        application.batch_execute("BEGIN").await.unwrap();
        let completion = store.completion(lease).unwrap();
        assert_eq!(scene::complete(&application, &completion).await.unwrap(), 1);
        let settling = {
            let store = store.clone();
            let retry = Outcome::Retry { after: Duration::ZERO, cause: "late".into() };
            tokio::spawn(async move { store.settle(lease, retry).await })
        };
        let waits = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' AND pid IN \
            (SELECT pid FROM pg_locks WHERE relation = 'article_inbox_entries'::regclass)";
        let other = scene.client().await;
        while other.query(waits, &[]).await.unwrap().is_empty() {}
        application.batch_execute("COMMIT").await.unwrap();
        assert_eq!(settling.await.unwrap().unwrap(), Settled::AlreadyDone);
        assert_eq!(store.counts().await.unwrap().of(State::Done), 1);
    });
}
