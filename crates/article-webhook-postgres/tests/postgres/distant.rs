//! A server that is far away: what is asked for many entries takes few round trips.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Prune,
    store::{Expect, Recorded, Store as _},
};
use tokio::task::JoinSet;

use crate::{Scene, arrival, fill::SEAL, proxy::Proxy, scene::wait, server::Server};

/// How long a round trip takes, in milliseconds. A call may take ten seconds.
const AWAY: u64 = 15;

#[test]
fn what_is_asked_for_many_entries_is_answered_in_time() {
    let Some(server) = Server::start(&[]) else { return };
    let proxy = Proxy::before(server.port);
    proxy.slow(AWAY);
    let scene = Scene::on(&format!("postgresql://postgres@127.0.0.1:{}/postgres", proxy.port));
    let scene = scene.with(|settings| settings.receiving_connections(1).unwrap());
    let store = scene.store();
    wait(async {
        // A burst of deliveries, and of their duplicates.
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

        // A batch of expected jobs, of which some have their article.
        let expect =
            |job: u32| Expect::job(format!("job_{job}").parse().unwrap(), SystemTime::now());
        let states = store.expect((0..500).map(expect).collect()).await.unwrap();
        assert_eq!(states.len(), 500);
        assert!(states[..300].iter().all(|state| state.has_article()));
        assert!(!states[300..].iter().any(|state| state.has_article()));

        // A batch of old entries, whose jobs stay known.
        let old = "INSERT INTO article_inbox_entries (job_id, event, state, at, lease_end, attempts, fence, since, received_at, held, \
            target, document, checksum) SELECT 'old_' || n, 'article.complete', 'done', 0, 0, 1, 1, 0, 0, 0, 'blog', '{}', 0 \
            FROM generate_series(1, 500) n;";
        scene.client().await.batch_execute(&[old, SEAL].concat()).await.unwrap();
        let before = SystemTime::now() - Duration::from_secs(60);
        let prune =
            Prune { bodies_before: before, entries_before: before, limit: 500, ..Prune::default() };
        let pruned = store.prune(prune).await.unwrap();
        assert_eq!((pruned.entries, pruned.more), (500, false));
        assert_eq!(store.record(arrival("old_500", "{}")).await.unwrap(), Recorded::Duplicate);
        assert_eq!(store.ledger_counts().await.unwrap().total(), 1000);
    });
}
