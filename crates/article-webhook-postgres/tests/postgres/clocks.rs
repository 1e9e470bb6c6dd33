//! Nodes whose clocks are wrong. The clock of the database is moved, and not theirs: if it is ahead, they are late.

use std::time::{Duration, SystemTime};

use article_webhook::{Reply, Sink as _, fixture};
use article_webhook_inbox::{
    Inbox, Prune, State,
    store::{BucketSettings, Expect, Outcome, PollClaim, Settled, Store as _},
};
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::{
    CLAIM, Scene, arrival, record_each,
    scene::{self, wait},
    server::Server,
};

/// Far more than anything takes, and less than the clocks differ by.
const MINUTES: Duration = Duration::from_secs(500);

async fn move_clock(client: &Client, by: &str) {
    let moved = |function: &str| {
        format!(
            "SET allow_system_table_mods = on; ALTER FUNCTION pg_catalog.{function}() RENAME TO {function}_of_the_machine; \
             CREATE FUNCTION pg_catalog.{function}() RETURNS timestamptz LANGUAGE sql STABLE \
             AS $$ SELECT pg_catalog.{function}_of_the_machine() + interval '{by}' $$;"
        )
    };
    let moved = moved("clock_timestamp") + &moved("now");
    client.batch_execute(&moved).await.unwrap();
}

/// Nothing takes its time from the node: neither if that is late, nor if it is early.
#[test]
fn the_clock_of_a_node_does_not_matter() {
    for by in ["10 minutes", "-10 minutes"] {
        let Some(server) = Server::start(&[]) else { return };
        wait(async { move_clock(&scene::connect(&server.url()).await, by).await });
        let scene = Scene::on(&server.url());
        let store = scene.store();
        let is_of_the_server = |time: SystemTime| match by {
            "10 minutes" => time > SystemTime::now() + MINUTES,
            _ => time < SystemTime::now() - MINUTES,
        };
        wait(async move {
            assert!(is_of_the_server(store.now()));
            record_each(&store, &["job_1", "job_2"]).await;
            assert!(is_of_the_server(store.due_since().await.unwrap().unwrap()));
            let claims = store.claim(CLAIM).await.unwrap();
            assert_eq!(claims.claimed.len(), 2);
            assert!(claims.claimed.iter().all(|claimed| is_of_the_server(claimed.received_at)));
            let leases: Vec<_> = claims.claimed.iter().map(|claimed| claimed.lease).collect();
            assert_eq!(store.extend(&leases, CLAIM.lease).await.unwrap().len(), 2);
            assert!(store.claim(CLAIM).await.unwrap().claimed.is_empty(), "no lease has ended");
            assert_eq!(store.settle(leases[0], Outcome::Done).await.unwrap(), Settled::Settled);
            let completion = store.completion(leases[1]).unwrap();
            let application = scene.client().await;
            assert_eq!(scene::complete(&application, &completion).await.unwrap(), 1);
            let (entry, _) = store.show(arrival("job_2", "{}").key).await.unwrap().unwrap();
            assert!(entry.state == State::Done && is_of_the_server(entry.since));

            let inbox = Inbox::new(store.clone());
            let delivery = fixture::complete().job_id("job_3").delivery().unwrap();
            assert_eq!(inbox.accept(delivery).await, Reply::Stored);
            let (handled, mut runs) = mpsc::unbounded_channel();
            let worker = inbox.worker(move |_| {
                handled.send(()).unwrap();
                async { Ok(()) }
            });
            worker.run_until_idle().await.unwrap();
            assert_eq!((runs.recv().await, runs.recv().await), (Some(()), None), "it runs once");

            let expect = |id: &str, at| Expect::job(id.parse().unwrap(), at);
            let second = Duration::from_secs(1);
            let due = expect("due", store.now() - second);
            store.expect(vec![due, expect("later", store.now() + MINUTES)]).await.unwrap();
            let bucket = BucketSettings { per_minute: 600, burst: 100, key: 1 };
            let claim = PollClaim { limit: 10, lease: CLAIM.lease, bucket };
            // Those of the first are under a lease when they are asked for again.
            for jobs in [1, 0] {
                assert_eq!(store.claim_polls(claim).await.unwrap().polls.len(), jobs);
            }
            let prune = |before| {
                let entries_before = before;
                Prune { bodies_before: before, entries_before, limit: 100, ..Prune::default() }
            };
            assert_eq!(store.prune(prune(store.now() - MINUTES)).await.unwrap().entries, 0);
            assert_eq!(store.prune(prune(store.now() + second)).await.unwrap().entries, 3);
        });
    }
}
