//! How the server finds what the statements ask for, where the tables are large.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    EntryKey, Filter, JobFilter, Prune, State,
    store::{
        BucketSettings, Claim, Events, Expect, Export, Intended, Outcome, PollClaim, PollOutcome,
        Store,
    },
};
use article_webhook_postgres::PostgresStore;

use crate::{CLAIM, Scene, arrival, fill::SEAL, scene::wait, server::Server};

const BUCKET: BucketSettings = BucketSettings { per_minute: 600, burst: 100, key: 1 };

/// What fills the tables: most rows have ended, and some are in each other state.
const FILL: &str = "INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, \
    held, target, document, checksum) \
    SELECT 'job_' || n, CASE WHEN n % 50 = 0 THEN 'generation failed' ELSE 'article.complete' END, \
    CASE WHEN n % 40 = 1 THEN 'waiting' WHEN n % 200 = 2 THEN 'leased' WHEN n % 1000 = 3 THEN 'dead' \
    WHEN n % 1000 = 4 THEN 'unhandled' WHEN n % 1000 = 5 THEN 'corrupt' ELSE 'done' END, \
    1, n, n * 1000, n * 1000, n * 1000, n * 1000, CASE WHEN n % 10 = 0 THEN 1 ELSE 0 END, 'default', '{}', 0 \
    FROM generate_series(1, 20000) n; \
    INSERT INTO article_inbox_bodies (entry, slot, received_at, digest, document, checksum, body) \
    SELECT id, 0, received_at, sha256('{}'), '{\"source\":\"webhook\",\"target\":\"default\"}', 0, \
    CASE WHEN held > 0 THEN '{}'::bytea END FROM article_inbox_entries; \
    INSERT INTO article_inbox_jobs (job_id, state, intent, expected_at, at, polls, fence, document, checksum) \
    SELECT 'job_' || n, CASE WHEN n % 100 = 1 THEN 'expected' ELSE 'arrived' END, 'post-' || n, n * 1000, n * 1000, \
    0, 0, '{\"reason\":\"ordered\"}', 0 FROM generate_series(1, 20000) n; \
    INSERT INTO article_inbox_intents (name, state, created_at, at, fence, job_id, document, checksum) \
    SELECT 'post-' || n, CASE WHEN n % 1000 = 1 THEN 'ordering' ELSE 'ordered' END, n * 1000, n * 1000, n, 'job_' || n, '{}', 0 \
    FROM generate_series(1, 20000) n;";

fn job(number: u32) -> JobId {
    format!("job_{number}").parse().unwrap()
}

/// Makes every call of a store but the check, which reads everything.
async fn call_each(store: &PostgresStore) {
    let key = |number| EntryKey::article(job(number));
    let minute = Duration::from_secs(60);
    for claim in [CLAIM, Claim { events: Events::ExceptFailures, ..CLAIM }] {
        let leases = store.claim(claim).await.unwrap();
        let leases: Vec<_> = leases.claimed.iter().map(|claimed| claimed.lease).collect();
        store.extend(&leases, minute).await.unwrap();
        let retry = Outcome::Retry { after: minute, cause: "no network".into() };
        let corrupt = Outcome::Corrupt { seen: 1, cause: "its digest".into() };
        for (lease, outcome) in
            leases.into_iter().zip([Outcome::Done, Outcome::Done, retry, corrupt])
        {
            store.settle(lease, outcome).await.unwrap();
        }
    }
    store.record(arrival("new_1", "{}")).await.unwrap();
    store.record(arrival("new_1", "{}")).await.unwrap();
    store.record(arrival("job_101", "{ }")).await.unwrap();
    store.due_since().await.unwrap();
    store.counts().await.unwrap();
    store.ledger_counts().await.unwrap();
    for requeued_at in [None, Some(SystemTime::UNIX_EPOCH)] {
        store.causes(requeued_at).await.unwrap();
    }
    store.hours(SystemTime::UNIX_EPOCH + Duration::from_secs(19_000)).await.unwrap();
    for (state, limit) in [(State::Waiting, 10), (State::Unhandled, 100)] {
        let filter = Filter { state: Some(state), limit, ..Filter::default() };
        store.list(filter).await.unwrap();
    }
    store.show(key(6)).await.unwrap();
    store.requeue(vec![(key(1003), None)], SystemTime::UNIX_EPOCH).await.unwrap();
    store.discard(vec![key(1004)], "not wanted".into()).await.unwrap();
    let lines = store.export(Export::Entry(key(1005))).await.unwrap().items;
    store.erase(vec![job(1005)]).await.unwrap();
    store.import(lines).await.unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(5000);
    let limits = Prune { bodies_before: old, entries_before: old, limit: 100, ..Prune::default() };
    store.prune(Prune { dead_before: Some(old), ..limits }).await.unwrap();

    store.expect(vec![Expect::job(job(6), old), Expect::job(job(40_000), old)]).await.unwrap();
    let Intended::Begun(lease) = store.intend("new", minute, BUCKET.key, None).await.unwrap()
    else {
        panic!("it is new");
    };
    store.outcome_lost(lease).await.unwrap();
    store.order_again("new", minute, BUCKET.key, None).await.unwrap();
    store.ordered("new", job(40_001), old, 1).await.unwrap();
    store.abandon("post-1001").await.unwrap();
    let claim = PollClaim { limit: 4, lease: minute, bucket: BUCKET };
    for poll in store.claim_polls(claim).await.unwrap().polls {
        store.settle_poll(poll.lease, PollOutcome::Released, 1).await.unwrap();
    }
    store.job(job(6)).await.unwrap();
    store
        .jobs(JobFilter { intent: Some("post-7".into()), limit: 10, ..JobFilter::default() })
        .await
        .unwrap();
    store.intent("post-7").await.unwrap();
    store.intents(None, 0, 10).await.unwrap();
    store.prune_ledger(old, 100).await.unwrap();
}

/// Fills the tables, and makes each call. Returns the plans that read a whole table, and the indexes that no call has used.
fn plans(statistics: &str, settings: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
    let explained = [
        "session_preload_libraries = 'auto_explain'",
        "auto_explain.log_min_duration = 0",
        "auto_explain.log_nested_statements = on",
        "log_min_messages = log",
        "autovacuum = off",
    ];
    let server = Server::start(&[&explained, settings].concat())?;
    let scene = Scene::on(&server.url());
    let (store, log) = (scene.store(), server.folder().join("log"));
    // Not the plan of each checksum.
    let silent = "SET auto_explain.log_min_duration = -1; ";
    let fill = silent.to_owned() + &statistics.replace("FILL", &[FILL, SEAL].concat());
    let (log, unused) = wait(async move {
        let client = scene.client().await;
        client.batch_execute(&fill).await.unwrap();
        let before = fs::read_to_string(&log).unwrap().len();
        call_each(&store).await;
        store.close().await.unwrap();
        // A connection reports what it has used when it ends.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let unused = "SELECT indexrelname::text FROM pg_stat_user_indexes WHERE schemaname = current_schema() AND idx_scan = 0 \
            AND relname NOT IN ('article_inbox_meta', 'article_inbox_bucket')";
        let unused = client.query(unused, &[]).await.unwrap();
        let unused = unused.iter().map(|row| row.get(0)).collect::<Vec<String>>();
        let log = fs::read_to_string(&log).unwrap().split_off(before);
        (log, unused)
    });
    // A plan begins with a line of the log, and goes on in lines that begin with a tab.
    let plans = log.replace("\n\t", "\t");
    let scans = |plan: &&str| {
        // Counts by state are of all rows, and those by the hour of the newest 100,000.
        plan.contains("Seq Scan on article_inbox_")
            && !plan.contains("GROUP BY state")
            && !plan.contains("AS newest")
            && !plan.contains("Seq Scan on article_inbox_bucket")
            && !plan.contains("Seq Scan on article_inbox_meta")
    };
    Some((plans.lines().filter(scans).map(|plan| plan.replace('\t', "\n")).collect(), unused))
}

/// Returns the indexes that no call has used.
fn no_table_is_read_whole(statistics: &str, settings: &[&str]) -> Vec<String> {
    let Some((read_whole, unused)) = plans(statistics, settings) else { return Vec::new() };
    assert!(read_whole.is_empty(), "{}", read_whole.join("\n\n"));
    unused
}

#[test]
fn with_statistics_no_table_is_read_whole_and_each_index_is_used() {
    assert_eq!(no_table_is_read_whole("FILL ANALYZE", &[]), [""; 0]);
}

#[test]
fn with_the_statistics_of_empty_tables_no_table_is_read_whole() {
    no_table_is_read_whole("ANALYZE; FILL", &[]);
}

#[test]
fn with_plans_for_any_value_no_table_is_read_whole() {
    no_table_is_read_whole("FILL ANALYZE", &["plan_cache_mode = force_generic_plan"]);
}
