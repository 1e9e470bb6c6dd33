//! A server that is far away: what is asked for many entries takes few round trips.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Prune,
    store::{Expect, Recorded, Store as _},
};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::{
    arrival,
    fill::SEAL,
    fresh,
    proxy::Proxy,
    scene::{self, wait},
    schema,
    server::Server,
};

/// How long a round trip takes, in milliseconds. A call may take ten seconds.
const AWAY: u64 = 15;

/// A server, and its URL from far away.
fn distant() -> Option<(Server, String)> {
    let server = Server::start(&[])?;
    let proxy = Proxy::before(server.port);
    proxy.slow(AWAY);
    let url = format!("postgresql://postgres@127.0.0.1:{}/postgres", proxy.port);
    Some((server, url))
}

#[test]
fn a_burst_of_duplicates_is_answered() {
    let Some((_server, url)) = distant() else { return };
    wait(async move {
        let settings = fresh(&url).receiving_connections(1).unwrap();
        let store = PostgresStore::connect(settings).await.unwrap();
        for expected in [Recorded::Stored, Recorded::Duplicate] {
            let mut deliveries = JoinSet::new();
            for job in 0..300 {
                let store = store.clone();
                let arrival = arrival(&format!("job_{job}"), "{}");
                deliveries.spawn(async move { store.record(arrival).await });
            }
            for recorded in deliveries.join_all().await {
                assert_eq!(recorded.unwrap(), expected);
            }
        }
    });
}

#[test]
fn a_batch_of_old_entries_is_pruned_and_their_jobs_stay_known() {
    let Some((server, url)) = distant() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    wait(async move {
        let store = PostgresStore::connect(settings).await.unwrap();
        let old = format!(
            "SET search_path = {schema}; \
             INSERT INTO article_inbox_entries (job_id, event, state, at, lease_end, attempts, fence, since, received_at, held, target, \
             document, checksum) SELECT 'job_' || n, 'article.complete', 'done', 0, 0, 1, 1, 0, 0, 0, 'blog', '{{}}', 0 \
             FROM generate_series(1, 500) n; {SEAL}"
        );
        scene::connect(&server.url()).await.batch_execute(&old).await.unwrap();
        let before = SystemTime::now() - Duration::from_secs(60);
        let prune =
            Prune { bodies_before: before, entries_before: before, limit: 500, ..Prune::default() };
        let pruned = store.prune(prune).await.unwrap();
        assert_eq!((pruned.entries, pruned.more), (500, false));
        assert_eq!(store.record(arrival("job_500", "{}")).await.unwrap(), Recorded::Duplicate);
        assert_eq!(store.ledger_counts().await.unwrap().total(), 500);
    });
}

#[test]
fn many_jobs_are_expected_at_once() {
    let Some((_server, url)) = distant() else { return };
    wait(async move {
        let store = PostgresStore::connect(fresh(&url)).await.unwrap();
        store.record(arrival("job_7", "{}")).await.unwrap();
        let expect =
            |job: u32| Expect::job(format!("job_{job}").parse().unwrap(), SystemTime::now());
        let states = store.expect((0..500).map(expect).collect()).await.unwrap();
        let has_article = |state: &&article_webhook_inbox::JobState| state.has_article();
        assert_eq!((states.len(), states.iter().filter(has_article).count()), (500, 1));
        assert!(states[7].has_article());
        assert_eq!(store.ledger_counts().await.unwrap().total(), 500);
    });
}
