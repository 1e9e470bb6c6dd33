//! Nodes whose clocks are wrong. The clock of the database is moved, and not theirs: if it is ahead, they are late.

use std::{
    future::pending,
    time::{Duration, SystemTime},
};

use article_webhook::{Reply, Sink as _, fixture};
use article_webhook_inbox::{
    Failed, Inbox, Job, Prune, State,
    store::{BucketSettings, Expect, Outcome, PollClaim, Settled, Store as _},
};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_postgres::Client;

use crate::{
    CLAIM, arrival, fresh, record_each,
    scene::{self, wait},
    server::Server,
};

/// A poll that no test reaches.
const HOUR: Duration = Duration::from_secs(3600);

/// How long anything may take on a busy machine. It is far less than the clocks differ by.
const TIMEOUT: Duration = Duration::from_secs(60);

const LEASE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_secs(3);

/// What a clock may show less than was waited for, and what a pause is shortened by.
const SHORT: f64 = 0.7;

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

/// A failover may lead to a server with another clock. The pauses of a worker follow it.
#[test]
fn a_claim_reports_the_time_of_its_server() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    wait(async move {
        let store = PostgresStore::connect(fresh(&url)).await.unwrap();
        let before = store.now();
        move_clock(&scene::connect(&url).await, "-1 hour").await;
        store.claim(CLAIM).await.unwrap();
        let back = before.duration_since(store.now()).unwrap();
        assert!(back > Duration::from_secs(3000), "{back:?}");
    });
}

#[test]
fn the_clock_of_a_node_does_not_matter() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let settings = fresh(&url);
    wait(async move {
        let application = scene::connect(&url).await;
        move_clock(&application, "10 minutes").await;
        let ahead = SystemTime::now() + Duration::from_secs(500);

        let store = PostgresStore::connect(settings).await.unwrap();
        assert!(store.now() > ahead);
        record_each(&store, &["job_1", "job_2"]).await;
        assert!(store.due_since().await.unwrap().unwrap() > ahead);
        let claims = store.claim(CLAIM).await.unwrap();
        assert_eq!(claims.claimed.len(), 2);
        assert!(claims.claimed.iter().all(|claimed| claimed.received_at > ahead));
        let leases: Vec<_> = claims.claimed.iter().map(|claimed| claimed.lease).collect();
        assert_eq!(store.extend(&leases, Duration::from_secs(60)).await.unwrap().len(), 2);
        assert!(store.claim(CLAIM).await.unwrap().claimed.is_empty(), "no lease has ended");
        assert_eq!(store.settle(leases[0], Outcome::Done).await.unwrap(), Settled::Settled);
        let completion = store.completion(leases[1]).unwrap();
        assert_eq!(scene::complete(&application, &completion).await.unwrap(), 1);
        let (entry, _) = store.show(arrival("job_2", "{}").key).await.unwrap().unwrap();
        assert!(entry.state == State::Done && entry.since > ahead);
    });
}

/// An attempt that began.
#[derive(Debug)]
struct Began {
    node: usize,
    job: String,
    attempt: u32,
    at: Instant,
}

/// Two nodes, each with a receiver and a worker.
struct Nodes {
    stores: [PostgresStore; 2],
    inboxes: [Inbox; 2],
    workers: [JoinHandle<()>; 2],
    began: mpsc::UnboundedReceiver<Began>,
}

impl Nodes {
    async fn start(settings: PostgresSettings, poll: Duration) -> Self {
        let stores = [
            PostgresStore::connect(settings.clone()).await.unwrap(),
            PostgresStore::connect(settings).await.unwrap(),
        ];
        let inboxes = stores.clone().map(Inbox::new);
        let (sender, began) = mpsc::unbounded_channel();
        let mut node = 0;
        let workers = inboxes.each_ref().map(|inbox| {
            let (sender, number) = (sender.clone(), node);
            node += 1;
            let handler = move |job: Job| {
                let (job_id, attempt) = (job.job_id().as_str().to_owned(), job.attempt());
                let began =
                    Began { node: number, job: job_id.clone(), attempt, at: Instant::now() };
                sender.send(began).unwrap();
                async move {
                    match (&*job_id, attempt) {
                        ("fails", 1) => return Err(Failed::because("as it is asked to")),
                        ("hangs", 1) => pending().await,
                        ("long", _) => sleep(LEASE * 2).await,
                        _ => {}
                    }
                    Ok(())
                }
            };
            let worker = inbox.worker(handler).lease(LEASE).backoff(PAUSE, PAUSE).poll(poll);
            let run = worker.run(pending::<()>());
            tokio::spawn(async move { run.await.unwrap() })
        });
        Self { stores, inboxes, workers, began }
    }

    /// Delivers to one of the nodes.
    async fn deliver(&self, to: usize, job: &str) {
        let delivery = fixture::complete().job_id(job).delivery().unwrap();
        assert_eq!(self.inboxes[to].accept(delivery).await, Reply::Stored);
    }

    /// The next attempt.
    async fn next(&mut self, job: &str, attempt: u32) -> Began {
        let began = timeout(TIMEOUT, self.began.recv()).await.expect("it is not late").unwrap();
        assert_eq!((&*began.job, began.attempt), (job, attempt), "{began:?}");
        began
    }

    async fn until_done(&self, entries: u64) {
        let start = Instant::now();
        while self.stores[0].counts().await.unwrap().of(State::Done) < entries {
            assert!(start.elapsed() < TIMEOUT);
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Fails if less time, or far more of it, has passed since then.
fn passed(since: Instant, least: Duration) {
    let passed = since.elapsed();
    assert!(least.mul_f64(SHORT) < passed && passed < TIMEOUT, "{passed:?} instead of {least:?}");
}

/// Nodes whose clocks differ so much from the database's work in time.
fn work(by: &'static str) {
    let Some(server) = Server::start(&[]) else { return };
    wait(async move {
        let url = server.url();
        move_clock(&scene::connect(&url).await, by).await;
        let settings = fresh(&url);
        let mut nodes = Nodes::start(settings.clone(), HOUR).await;

        nodes.deliver(0, "fails").await;
        let first = nodes.next("fails", 1).await;
        nodes.next("fails", 2).await;
        passed(first.at, PAUSE);
        nodes.until_done(1).await;

        // Its lease is extended, so that no other attempt begins before the next job.
        nodes.deliver(1, "long").await;
        nodes.next("long", 1).await;
        nodes.until_done(2).await;

        // What another node has leased is found by a poll.
        nodes.workers.iter().for_each(JoinHandle::abort);
        let mut nodes = Nodes::start(settings, LEASE / 6).await;
        nodes.deliver(0, "hangs").await;
        let first = nodes.next("hangs", 1).await;
        nodes.workers[first.node].abort();
        let second = nodes.next("hangs", 2).await;
        assert_ne!(first.node, second.node);
        passed(first.at, LEASE);
        nodes.until_done(3).await;

        let [one, other] = &nodes.stores;
        let due = one.now() + PAUSE;
        one.expect(vec![Expect::job("polled".parse().unwrap(), due)]).await.unwrap();
        let bucket = BucketSettings { per_minute: 600, burst: 100, key: 1 };
        let claim = PollClaim { limit: 10, lease: LEASE, bucket };
        let (mut since, mut least) = (Instant::now(), PAUSE);
        // It is due, and again when the lease of the first has ended.
        for store in [other, one] {
            while store.claim_polls(claim).await.unwrap().polls.is_empty() {
                assert!(since.elapsed() < TIMEOUT, "no poll is due");
                sleep(Duration::from_millis(50)).await;
            }
            passed(since, least);
            (since, least) = (Instant::now(), LEASE);
        }

        let before = |age: Duration| {
            let then = other.now() - age;
            Prune { bodies_before: then, entries_before: then, limit: 100, ..Prune::default() }
        };
        assert_eq!(other.prune(before(TIMEOUT * 5)).await.unwrap().entries, 0);
        assert_eq!(other.prune(before(Duration::ZERO)).await.unwrap().entries, 3);
        for worker in nodes.workers {
            worker.abort();
        }
    });
}

#[test]
fn workers_polls_and_retention_are_in_time_on_nodes_that_are_late() {
    work("10 minutes");
}

#[test]
fn workers_polls_and_retention_are_in_time_on_nodes_that_are_early() {
    work("-10 minutes");
}

/// Whichever node received them.
#[test]
fn entries_are_claimed_in_the_order_in_which_nodes_with_wrong_clocks_received_them() {
    let Some(server) = Server::start(&[]) else { return };
    wait(async move {
        let url = server.url();
        move_clock(&scene::connect(&url).await, "-10 minutes").await;
        let settings = fresh(&url);
        let nodes = [
            PostgresStore::connect(settings.clone()).await.unwrap(),
            PostgresStore::connect(settings).await.unwrap(),
        ];
        for number in 0..10 {
            let stored = nodes[number % 2].record(arrival(&format!("job_{number}"), "{}")).await;
            stored.unwrap();
            sleep(Duration::from_millis(2)).await;
        }
        let claimed = nodes[0].claim(CLAIM).await.unwrap().claimed;
        let jobs: Vec<_> = claimed.iter().map(|claimed| claimed.key.job_id.to_string()).collect();
        let expected: Vec<_> = (0..10).map(|number| format!("job_{number}")).collect();
        assert_eq!(jobs, expected);
    });
}
