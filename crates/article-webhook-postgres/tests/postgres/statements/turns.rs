//! In which order claims find what is due, where reading all of it takes long.

use std::time::{Duration, Instant};

use article_webhook_inbox::store::{Claim, Claims, Events, Store as _};
use article_webhook_postgres::PostgresStore;
use tokio_postgres::Client;

use crate::{CLAIM, fresh, scene, scene::wait, schema, server::shared_url};

/// So many leased entries that claims do not read all of them each time.
const LEASED: &str = "SELECT 'leased_' || n, 'article.complete', 'leased', n, 9000000000000000 FROM generate_series(1, 3000) n";

const FEW: Claim = Claim { limit: 10, ..CLAIM };

/// A store in a new schema, a connection of another program, and how that adds entries: their job, event, state, time, and the
/// end of their lease.
async fn scene(url: &str) -> (PostgresStore, Client, String) {
    let settings = fresh(url);
    let schema = schema(&settings);
    let store = PostgresStore::connect(settings).await.unwrap();
    let add = format!(
        "INSERT INTO {schema}.article_inbox_entries (job_id, event, state, at, lease_end, attempts, fence, since, received_at, \
         interrupted, conflicts, has_bytes) SELECT job_id, event, state, at, lease_end, 0, 0, at, at, 0, 0, false FROM "
    );
    let client = scene::connect(url).await;
    client.batch_execute(&added(&add, LEASED)).await.unwrap();
    (store, client, add)
}

fn added(add: &str, entries: &str) -> String {
    format!("{add} ({entries}) AS new (job_id, event, state, at, lease_end)")
}

fn jobs(claims: &Claims) -> Vec<String> {
    claims.claimed.iter().map(|claimed| claimed.key.job_id.to_string()).collect()
}

fn articles(numbers: std::ops::RangeInclusive<u32>) -> Vec<String> {
    numbers.map(|number| format!("article_{number}")).collect()
}

#[test]
fn a_claim_that_its_limit_has_ended_leaves_nothing_behind_it() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let (store, client, add) = scene(&url).await;
        let failures = "SELECT 'failed_' || n, 'generation failed', 'waiting', 100000 + n, 0 FROM generate_series(1, 5) n \
            UNION ALL SELECT 'article_' || n, 'article.complete', 'waiting', 1000 + n * 1000, 0 FROM generate_series(1, 30) n";
        client.batch_execute(&added(&add, failures)).await.unwrap();
        for numbers in [1..=10, 11..=20, 21..=30] {
            assert_eq!(jobs(&store.claim(FEW).await.unwrap()), articles(numbers));
        }
        assert_eq!(jobs(&store.claim(FEW).await.unwrap()).len(), 5);
    });
}

#[test]
fn a_claim_of_articles_that_its_limit_has_ended_leaves_nothing_behind_it() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let (store, client, add) = scene(&url).await;
        let new = "SELECT 'article_' || n, 'article.complete', 'waiting', \
            (extract(epoch FROM now()) * 1000)::bigint + n, 0 FROM generate_series(1, 30) n";
        client.batch_execute(&added(&add, new)).await.unwrap();
        // By then all of them are far before the time of the first claim.
        tokio::time::sleep(Duration::from_secs(1)).await;
        for numbers in [1..=10, 11..=20, 21..=30] {
            assert_eq!(jobs(&store.claim(FEW).await.unwrap()), articles(numbers));
        }
    });
}

#[test]
fn claims_without_failures_do_not_keep_failures_from_the_others() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let (store, client, add) = scene(&url).await;
        let mixed = "SELECT 'failed_1', 'generation failed', 'waiting', 1000, 0 \
            UNION ALL SELECT 'article_' || n, 'article.complete', 'waiting', 2000 + n * 1000, 0 FROM generate_series(1, 20) n";
        client.batch_execute(&added(&add, mixed)).await.unwrap();
        let without = Claim { events: Events::ExceptFailures, ..FEW };
        assert_eq!(jobs(&store.claim(without).await.unwrap()), articles(1..=10));
        assert_eq!(jobs(&store.claim(FEW).await.unwrap())[..2], ["failed_1", "article_11"]);
    });
}

#[test]
fn an_entry_that_was_committed_late_is_found_soon() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let (store, mut client, add) = scene(&url).await;
        let late = client.transaction().await.unwrap();
        let entry = "SELECT 'late', 'article.complete', 'waiting', 1000, 0";
        late.batch_execute(&added(&add, entry)).await.unwrap();
        let others = scene::connect(&url).await;
        let articles = "SELECT 'article_' || n, 'article.complete', 'waiting', 100000 + n * 1000, 0 FROM generate_series(1, 15) n";
        others.batch_execute(&added(&add, articles)).await.unwrap();
        assert_eq!(store.claim(FEW).await.unwrap().claimed.len(), 10);
        late.commit().await.unwrap();

        // What is due later goes on meanwhile, and each claim says when to come again.
        let (mut found, began) = (Vec::new(), Instant::now());
        while !found.contains(&"late".to_owned()) {
            let claims = store.claim(FEW).await.unwrap();
            found.extend(jobs(&claims));
            let pause = claims.next_due.and_then(|due| due.duration_since(store.now()).ok());
            assert!(pause.is_none_or(|pause| pause < Duration::from_secs(60)), "{pause:?}");
            assert!(began.elapsed() < Duration::from_secs(60), "{found:?}");
            tokio::time::sleep(pause.unwrap_or_default().min(Duration::from_millis(100))).await;
        }
    });
}
