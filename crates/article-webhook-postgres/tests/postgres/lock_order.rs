//! Calls that change the same jobs and entries. They take them in one order, so that they do not wait for each other.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    EntryKey, Error, Prune,
    store::{
        ApiAnswer, Arrival, BucketSettings, Claim, Expect, Export, Outcome, PollClaim, PollOutcome,
        Store,
    },
};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::{
    CLAIM, KILL, Scene, arrival,
    scene::{self, wait},
    server::Server,
};

const JOBS: u32 = 3;

const BUCKET: BucketSettings = BucketSettings { per_minute: 60_000, burst: 10_000, key: 1 };

#[test]
fn calls_of_two_nodes_and_a_reindex_of_any_table_never_block_each_other() {
    let Some(server) = Server::start(&["log_min_messages = error"]) else { return };
    let scene = Scene::on(&server.url());
    let scene = scene.with(|settings| settings.working_connections(8).unwrap());
    let nodes = [scene.store(), scene.store()];
    wait(async {
        let (is_over, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let mut calls = JoinSet::new();
        for store in nodes {
            for intent in ["intent_0", "intent_1"] {
                store.intend(intent, Duration::from_secs(60), BUCKET.key, None).await.unwrap();
            }
            for _ in 0..4 {
                let (store, is_over, made) =
                    (store.clone(), Arc::clone(&is_over), Arc::clone(&made));
                calls.spawn(async move {
                    while !is_over.load(Relaxed) {
                        call(&store).await.unwrap();
                        made.fetch_add(1, Relaxed);
                    }
                });
            }
        }
        // The calls also have time alone.
        while made.load(Relaxed) < 500 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let operator = scene.client().await;
        for _ in 0..2 {
            for table in ["entries", "bodies", "jobs", "intents", "bucket", "meta"] {
                for how in ["", "CONCURRENTLY "] {
                    let reindex = format!("REINDEX TABLE {how}article_inbox_{table}");
                    operator.batch_execute(&reindex).await.unwrap();
                }
            }
        }
        is_over.store(true, Relaxed);
        calls.join_all().await;
        no_deadlock(&server).await;
    });
}

/// Fails if the server has ended a transaction because it and another waited for each other.
async fn no_deadlock(server: &Server) {
    // What a session counted is there once it has ended.
    let application = scene::connect(&server.url()).await;
    application.batch_execute(KILL).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let deadlocks: i64 = application.query_one(deadlocks, &[]).await.unwrap().get(0);
    let log = std::fs::read_to_string(server.folder().join("log")).unwrap_or_default();
    assert_eq!(deadlocks, 0, "{log}");
}

/// One of the calls that change a job and an entry.
async fn call(store: &PostgresStore) -> Result<(), Error> {
    let job = || format!("job_{}", fastrand::u32(..JOBS));
    let key = EntryKey::article(job().parse().unwrap());
    let intent = || Some(format!("intent_{}", fastrand::u32(..2)).into());
    let expect = |job: String| {
        let expect = Expect::job(job.parse().unwrap(), SystemTime::now());
        Expect { intent: intent(), ..expect }
    };
    match fastrand::u32(..11) {
        0 | 1 => {
            // They share a transaction.
            let arrivals = (0..3).map(|_| {
                let body = format!("{{\"n\": {}}}", fastrand::u32(..4));
                let intent = if fastrand::bool() { intent() } else { None };
                Arrival { intent, ..arrival(&job(), &body) }
            });
            let mut recorded = JoinSet::new();
            for arrival in arrivals {
                let store = store.clone();
                recorded.spawn(async move { store.record(arrival).await.map(drop) });
            }
            recorded.join_all().await.into_iter().collect::<Result<(), _>>()?;
        }
        2 => {
            let claims = store.claim(Claim { lease: Duration::from_millis(5), ..CLAIM }).await?;
            for claimed in claims.claimed {
                let (seen, cause) = (claimed.bodies.len(), String::from("no article"));
                let outcome = match fastrand::u32(..3) {
                    0 => Outcome::Done,
                    1 => Outcome::Unhandled { seen, cause },
                    _ => Outcome::Corrupt { seen, cause },
                };
                store.settle(claimed.lease, outcome).await?;
            }
        }
        3 => drop(store.requeue(vec![(key, None)], SystemTime::UNIX_EPOCH).await?),
        4 => drop(store.discard(vec![key], "not wanted".into()).await?),
        5 => drop(store.expect(vec![expect(job()), expect(job())]).await?),
        6 => {
            let lines = store.export(Export::Entry(key)).await?.items;
            store.import(lines).await?;
        }
        7 => drop(store.erase(vec![key.job_id]).await?),
        8 => {
            let name = format!("intent_{}", fastrand::u32(..2));
            store.ordered(&name, key.job_id, SystemTime::now(), 1).await?;
        }
        9 => {
            let lease = Duration::from_secs(1);
            let polls =
                store.claim_polls(PollClaim { limit: 2, lease, bucket: BUCKET }).await?.polls;
            for poll in polls {
                let Arrival { target, digest, bytes, .. } = arrival("job", "{\"n\": 9}");
                let answer = ApiAnswer { target, digest, bytes };
                let outcome = match fastrand::bool() {
                    true => PollOutcome::Answered(answer),
                    false => PollOutcome::Failed { answer, cause: "no model".into() },
                };
                store.settle_poll(poll.lease, outcome, 1).await?;
            }
        }
        _ => {
            let now = SystemTime::now() + Duration::from_secs(60);
            let limits = Prune { bodies_before: now, entries_before: now, ..Prune::default() };
            store.prune(Prune { dead_before: Some(now), limit: 10, ..limits }).await?;
        }
    }
    Ok(())
}

#[test]
fn a_call_that_the_server_chose_to_end_a_deadlock_is_made_again() {
    let Some(scene) = Scene::shared() else { return };
    // The second attempt would find the connection of the first, if that were kept.
    let scene = scene.with(|settings| settings.working_connections(1).unwrap());
    let store = scene.store();
    wait(async {
        let key = arrival("job_1", "{}").key;
        store.record(arrival("job_1", "{}")).await.unwrap();
        store.discard(vec![key.clone()], "not wanted".into()).await.unwrap();
        store.expect(vec![Expect::job(key.job_id.clone(), SystemTime::now())]).await.unwrap();

        // An application that takes an entry before its job. It looks for a deadlock later than we do.
        let mut application = scene.client().await;
        application.batch_execute("SET deadlock_timeout = '1min'").await.unwrap();
        let transaction = application.transaction().await.unwrap();
        let lock =
            |table| format!("SELECT FROM article_inbox_{table} WHERE job_id = 'job_1' FOR UPDATE");
        transaction.batch_execute(&lock("entries")).await.unwrap();
        let node = store.clone();
        let requeue = async move { node.requeue(vec![(key, None)], SystemTime::UNIX_EPOCH).await };
        let requeued = tokio::spawn(requeue);
        tokio::time::sleep(Duration::from_millis(300)).await;
        transaction.batch_execute(&lock("jobs")).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(requeued.await.unwrap().unwrap(), [true]);
    });
}

/// How many statements with these words wait for a lock.
const WAITS: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";

async fn waits(client: &tokio_postgres::Client, statement: &str) -> bool {
    let like = format!("%{statement}%");
    client.query_one(WAITS, &[&like]).await.unwrap().get::<_, i64>(0) > 0
}

/// The server would not end a deadlock, and the claim would wait until its time is up.
#[test]
fn a_claim_never_waits_for_a_reindex_that_waits_for_it() {
    let Some(server) = Server::start(&["deadlock_timeout = 1h"]) else { return };
    let scene = Scene::on(&server.url());
    let store = scene.store();
    wait(async {
        store.record(arrival("job_1", "{}")).await.unwrap();
        // The claim waits for the body, whatever it has locked before.
        let (looks, mut holds) = (scene.client().await, scene.client().await);
        let held = holds.transaction().await.unwrap();
        held.batch_execute("REINDEX INDEX article_inbox_bodies_pkey").await.unwrap();
        let claim = {
            let store = store.clone();
            tokio::spawn(async move { store.claim(CLAIM).await })
        };
        while !waits(&looks, "article_inbox_bodies").await {}
        let reindex = {
            let client = scene.client().await;
            let reindex = "REINDEX TABLE article_inbox_entries";
            tokio::spawn(async move { client.batch_execute(reindex).await })
        };
        while !reindex.is_finished() && !waits(&looks, "REINDEX TABLE").await {}
        held.commit().await.unwrap();
        assert_eq!(claim.await.unwrap().unwrap().claimed.len(), 1);
        reindex.await.unwrap().unwrap();
    });
}
