//! What claims read where vacuum may not remove what was claimed.

use article_webhook_inbox::store::{Claim, Outcome, Settled, Store};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::{
    CLAIM,
    scene::{self, wait},
    server::shared_url,
};

const ENTRIES: i64 = 8_000;

#[test]
fn claims_behind_an_old_snapshot_do_not_read_all_that_was_claimed_since() {
    let Some(url) = shared_url() else { return };
    let schema = scene::fresh_schema();
    let settings = article_webhook_postgres::PostgresSettings::new(&url).unwrap();
    wait(async move {
        let store = PostgresStore::connect(settings.schema(&schema).unwrap()).await.unwrap();
        let (holder, client) = (scene::connect(&url).await, scene::connect(&url).await);
        holder.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await.unwrap();
        client
            .batch_execute(&format!(
                "INSERT INTO {schema}.article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, \
                 received_at, interrupted, conflicts, has_bytes) \
                 SELECT 'job_' || n, 'article.complete', 'waiting', 0, 0, n * 10, 0, n * 10, n * 10, 0, 0, false \
                 FROM generate_series(1, {ENTRIES}) n; ANALYZE {schema}.article_inbox_entries"
            ))
            .await
            .unwrap();
        let mut claimed = 0;
        while claimed < ENTRIES {
            let claims = store.claim(Claim { limit: 40, ..CLAIM }).await.unwrap();
            let mut outcomes = JoinSet::new();
            for entry in claims.claimed {
                // None is left behind, and each is in its turn.
                claimed += 1;
                assert_eq!(entry.key.job_id.as_str(), format!("job_{claimed}"));
                let store = store.clone();
                outcomes.spawn(async move { store.settle(entry.lease, Outcome::Done).await });
            }
            assert!(!outcomes.is_empty());
            for settled in outcomes.join_all().await {
                assert_eq!(settled.unwrap(), Settled::Settled);
            }
        }

        // A connection reports what it has read when it ends.
        store.close().await.unwrap();
        let read = format!(
            "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE schemaname = '{schema}' \
             AND indexrelname IN ('article_inbox_entries_waiting', 'article_inbox_entries_leased')"
        );
        let mut before = -1;
        let read: i64 = loop {
            let now = client.query_one(&read, &[]).await.unwrap().get(0);
            if now == before && now > 0 {
                break now;
            }
            before = now;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        };
        // All of it, in each claim, would be some millions.
        assert!(read / ENTRIES < 120, "{read} entries of the indexes read for {ENTRIES} claimed");
        holder.batch_execute("ROLLBACK").await.unwrap();
    });
}
