//! Nodes of this version with the tables of the next one, while nodes are replaced.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    JobState, Prune, State,
    store::{Expect, Intended, Outcome, Recorded, Settled, Store as _},
};
use article_webhook_postgres::PostgresStore;
use tokio_postgres::Client;

use crate::{
    CLAIM, Scene, arrival,
    fill::SEAL,
    refusals::{refused, says},
    scene::wait,
};

/// A column, fields of the documents, and states, as the step to the next version may add them.
const NEXT: &str = "
ALTER TABLE article_inbox_entries ADD COLUMN priority bigint NOT NULL DEFAULT 7,
    DROP CONSTRAINT article_inbox_entries_state_check,
    ADD CONSTRAINT article_inbox_entries_state_check
        CHECK (state IN ('waiting', 'leased', 'done', 'dead', 'unhandled', 'corrupt', 'quarantined', 'parked'));
ALTER TABLE article_inbox_jobs DROP CONSTRAINT article_inbox_jobs_state_check;
ALTER TABLE article_inbox_intents DROP CONSTRAINT article_inbox_intents_state_check;
UPDATE article_inbox_entries SET priority = 9;
UPDATE article_inbox_entries SET checksum = 0, document = jsonb_set(document::jsonb, '{route}', '\"north\"');
UPDATE article_inbox_bodies SET checksum = 0, document = jsonb_set(document::jsonb, '{route}', '\"north\"');
UPDATE article_inbox_jobs SET checksum = 0, document = jsonb_set(document::jsonb, '{route}', '\"north\"');
UPDATE article_inbox_intents SET checksum = 0, document = jsonb_set(document::jsonb, '{route}', '\"north\"');
UPDATE article_inbox_entries SET state = 'parked' WHERE job_id = 'job_parked';
UPDATE article_inbox_jobs SET state = 'parked' WHERE job_id = 'job_parked';
UPDATE article_inbox_intents SET state = 'parked', at = 0 WHERE name = 'post-parked';
UPDATE article_inbox_meta SET value = 2 WHERE name = 'schema';
INSERT INTO article_inbox_meta (name, value) VALUES ('compatible_from', 1);
";

/// A node of this version that the tables were changed under, and a connection of an application.
async fn newer(scene: &Scene) -> (PostgresStore, Client) {
    let store = PostgresStore::connect(scene.settings.clone()).await.unwrap();
    for job in ["job_1", "job_parked"] {
        let expect = Expect::job(job.parse().unwrap(), SystemTime::now());
        store.expect(vec![expect]).await.unwrap();
        store.record(arrival(job, "{}")).await.unwrap();
    }
    for name in ["post-1", "post-parked"] {
        store.intend(name, Duration::from_secs(60), 1, None).await.unwrap();
    }
    let client = scene.client().await;
    client.batch_execute(&format!("BEGIN; {NEXT} {SEAL} COMMIT;")).await.unwrap();
    (store, client)
}

/// The column, the state and the field of the document of a row.
async fn stored(client: &Client, of: &str) -> Vec<String> {
    let row = client.query_one(of, &[]).await.unwrap();
    (0..row.len()).map(|column| row.get(column)).collect()
}

const ENTRY: &str = "SELECT priority::text, state, document::jsonb->>'route' FROM article_inbox_entries WHERE job_id = 'job_1'";
const BODY: &str = "SELECT b.document::jsonb->>'route' FROM article_inbox_bodies AS b \
    JOIN article_inbox_entries AS e ON e.id = b.entry WHERE job_id = 'job_1' AND slot = 0";
const JOB: &str = "SELECT document::jsonb->>'route' FROM article_inbox_jobs WHERE job_id = 'job_1'";
const INTENT: &str =
    "SELECT state, document::jsonb->>'route' FROM article_inbox_intents WHERE name = 'post-1'";

#[test]
fn a_node_of_the_version_before_works_and_loses_nothing_that_it_does_not_know() {
    let Some(scene) = Scene::shared() else { return };
    wait(async {
        let (running, client) = newer(&scene).await;
        // Fields survive whatever the node does, and another of the version before starts beside it.
        let started = PostgresStore::connect(scene.settings.clone()).await.unwrap();
        for (node, outcome, state) in [
            (
                &running,
                Outcome::Retry { after: Duration::ZERO, cause: "no network".into() },
                "waiting",
            ),
            (&started, Outcome::Done, "done"),
        ] {
            let claimed = node.claim(CLAIM).await.unwrap().claimed;
            assert_eq!(claimed.len(), 1, "the parked one is not claimed");
            let lease = claimed[0].lease;
            assert_eq!(node.extend(&[lease], CLAIM.lease).await.unwrap(), [lease]);
            assert_eq!(node.settle(lease, outcome).await.unwrap(), Settled::Settled);
            assert_eq!(stored(&client, ENTRY).await, ["9", state, "north"]);
        }
        let conflict = running.record(arrival("job_1", "{\"a\": 1}")).await.unwrap();
        assert_eq!(conflict, Recorded::Conflict { kept: true });
        let key = arrival("job_1", "").key;
        assert_eq!(
            running.requeue(vec![(key, None)], SystemTime::UNIX_EPOCH).await.unwrap(),
            [true]
        );
        assert_eq!(stored(&client, ENTRY).await, ["9", "waiting", "north"]);
        assert_eq!(running.record(arrival("job_2", "{}")).await.unwrap(), Recorded::Stored);
        let own = ENTRY.replace("job_1", "job_2").replace("document::jsonb->>'route'", "event");
        assert_eq!(stored(&client, &own).await[..2], ["7", "waiting"]);
        assert!(running.abandon("post-1").await.is_ok());
        assert_eq!(stored(&client, BODY).await, ["north"]);
        assert_eq!(stored(&client, JOB).await, ["north"]);
        assert_eq!(stored(&client, INTENT).await[1], "north");
        assert!(running.check().await.unwrap().is_empty());
    });
}

#[test]
fn a_row_in_a_state_of_a_newer_version_is_left_alone() {
    let Some(scene) = Scene::shared() else { return };
    wait(async {
        let (store, client) = newer(&scene).await;
        let all = "SELECT (SELECT e::text FROM article_inbox_entries AS e WHERE job_id = 'job_parked'), \
            (SELECT j::text FROM article_inbox_jobs AS j WHERE job_id = 'job_parked'), \
            (SELECT i::text FROM article_inbox_intents AS i WHERE name = 'post-parked')";
        let before = stored(&client, all).await;

        let again = store.record(arrival("job_parked", "{}")).await.unwrap();
        assert_eq!(again, Recorded::Duplicate);
        let other = store.record(arrival("job_parked", "{\"another\": 1}")).await.unwrap();
        assert_eq!(other, Recorded::BodyLimitReached, "it is not acknowledged");
        let key = arrival("job_parked", "").key;
        assert_eq!(
            store.requeue(vec![(key.clone(), None)], SystemTime::UNIX_EPOCH).await.unwrap(),
            [false]
        );
        let expect = Expect::job(key.job_id.clone(), SystemTime::now());
        assert_eq!(store.expect(vec![expect]).await.unwrap(), [JobState::Expected]);
        let (name, within) = ("post-parked", Duration::from_secs(60));
        let intended = store.intend(name, within, 1, None).await.unwrap();
        assert!(matches!(intended, Intended::Known(_)));
        let intended = store.order_again(name, within, 1, None).await.unwrap();
        assert!(matches!(intended, Intended::Known(_)), "it is not ordered twice");
        let future = SystemTime::now() + Duration::from_secs(3600);
        let limit = 100;
        let prune = Prune { bodies_before: future, entries_before: future, ..Prune::default() };
        store.prune(Prune { dead_before: Some(future), limit, ..prune }).await.unwrap();
        store.prune_ledger(future, limit).await.unwrap();
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 1);
        assert!(store.check().await.unwrap().is_empty());
        assert_eq!(store.counts().await.unwrap().of(State::Dead), 1);
        let (entry, _) = store.show(key).await.unwrap().unwrap();
        assert_eq!(
            entry.cause.as_deref(),
            Some("a newer version of the inbox stored the state \"parked\"")
        );
        assert_eq!(stored(&client, all).await, before);
    });
}

#[test]
fn tables_that_are_not_compatible_with_this_version_are_refused() {
    let Some((scene, _)) = Scene::opened() else { return };
    scene.run(
        "UPDATE S.article_inbox_meta SET value = 3 WHERE name = 'schema'; \
         INSERT INTO S.article_inbox_meta VALUES ('compatible_from', 2)",
    );
    says(&refused(scene.settings.clone()), "use a newer version of this program");
}
