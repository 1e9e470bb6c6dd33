//! What changes while nodes run: each is an outage that ends by itself once its cause has ended.

use std::time::Duration;

use article_webhook::{Reply, Sink as _, fixture};
use article_webhook_inbox::{
    Inbox,
    store::{Recorded, Store as _},
};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio::time::Instant;
use tokio_postgres::Client;

use crate::{
    KILL, Scene, arrival, fresh,
    refusals::{run, with_password},
    scene::{self, wait},
    server::Server,
};

/// Within this time work goes on.
const RECOVERY: Duration = Duration::from_secs(10);

/// Stores a delivery within the time of a recovery.
async fn goes_on(store: &PostgresStore, job: &str) {
    let end = Instant::now() + RECOVERY;
    while let Err(error) = store.record(arrival(job, "{}")).await {
        assert!(error.is_transient() && Instant::now() < end, "{error:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[test]
fn what_an_operator_takes_away_and_gives_back_ends_no_worker() {
    let Some(server) = Server::start(&["password_encryption = 'scram-sha-256'"]) else { return };
    with_password(&server);
    run(&server.url(), "CREATE DATABASE app OWNER blog");
    let url = format!("postgresql://blog:right@127.0.0.1:{}/app", server.port);
    wait(async move {
        let store = PostgresStore::connect(PostgresSettings::new(&url).unwrap()).await.unwrap();
        let inbox = Inbox::new(store.clone());
        let (worker, mut handled) = scene::work(&inbox, Duration::from_millis(200));
        let operator = scene::connect(&server.url()).await;

        let scene = Scene::on(&server.url());
        for (round, [change, reported, undo]) in scene.changes("nobody gets in").enumerate() {
            // Another connection to a database forbids to rename it.
            let job = format!("job-{round}");
            while operator.batch_execute(&change).await.is_err() {
                let all =
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app'";
                operator.batch_execute(all).await.unwrap();
            }
            operator.batch_execute(KILL).await.unwrap();
            let end = Instant::now() + RECOVERY;
            loop {
                let error = store.record(arrival(&job, "{}")).await.unwrap_err();
                assert!(error.is_transient() && Instant::now() < end, "{error:?}");
                if error.to_string().contains(&reported) {
                    break;
                }
            }
            let blocked = store.health().await.unwrap().blocked;
            assert!(
                blocked.is_some_and(|blocked| blocked.to_string().contains(&reported)),
                "health names the cause"
            );
            operator.batch_execute(&undo).await.unwrap();
            goes_on(&store, &job).await;
            assert!(store.health().await.unwrap().blocked.is_none());
        }
        let delivery = fixture::complete().job_id("job-last").delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
        let last =
            async { while handled.recv().await.expect("the worker goes on") != "job-last" {} };
        tokio::time::timeout(RECOVERY, last).await.expect("the worker is not late");
        worker.abort();
    });
}

/// The server has no room for another connection, and the one that is open is in use for a moment.
#[test]
fn a_delivery_that_gets_no_connection_of_its_own_waits_for_an_open_one() {
    let Some(server) = Server::start(&[]) else { return };
    with_password(&server);
    run(&server.url(), "CREATE DATABASE app OWNER blog");
    let app = |role: &str| format!("postgresql://{role}@127.0.0.1:{}/app", server.port);
    wait(async {
        let settings = PostgresSettings::new(&app("blog:right")).unwrap();
        let settings = settings.receiving_connections(2).unwrap();
        let store = PostgresStore::connect(settings).await.unwrap();
        store.record(arrival("job_1", "{}")).await.unwrap();
        let operator = scene::connect(&app("postgres")).await;
        let limit = "DO $$ BEGIN EXECUTE 'ALTER ROLE blog CONNECTION LIMIT ' || \
            (SELECT count(*) FROM pg_stat_activity WHERE usename = 'blog'); END $$";
        operator.batch_execute(limit).await.unwrap();
        let mut application = scene::connect(&app("postgres")).await;
        let held = application.transaction().await.unwrap();
        held.batch_execute("SELECT FROM article_inbox_entries WHERE job_id = 'job_1' FOR UPDATE")
            .await
            .unwrap();
        // It is refused once it has waited for the application, and then gives its connection away.
        let first = store.record(arrival("job_1", "{ }"));
        let second = async {
            let waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
            while operator.query(waits, &[]).await.unwrap().is_empty() {}
            store.record(arrival("job_2", "{}")).await
        };
        let (first, second) = tokio::join!(first, second);
        assert_eq!(second.unwrap(), Recorded::Stored);
        let error = first.unwrap_err().to_string();
        assert!(error.contains("holds the entry"), "{error}");
    });
}

/// Changes a setting of the server, and waits until sessions have it.
async fn set(operator: &Client, setting: &str, value: &str) {
    let alter = format!("ALTER SYSTEM SET {setting} = '{value}'");
    operator.batch_execute(&alter).await.unwrap();
    operator.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let show = format!("SELECT current_setting('{setting}')");
    while operator.query_one(&show, &[]).await.unwrap().get::<_, &str>(0) != value {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // The other sessions look when they are asked next.
    tokio::time::sleep(Duration::from_millis(100)).await;
}

/// Runs a test whose clock can be advanced.
fn on_a_clock(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

/// A pause of this length.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[test]
fn a_server_that_is_not_safe_any_more_gets_no_deliveries() {
    let Some(server) = Server::start(&[]) else { return };
    on_a_clock(async {
        let store = PostgresStore::connect(PostgresSettings::new(&server.url()).unwrap());
        let store = store.await.unwrap();
        let operator = scene::connect(&server.url()).await;
        let changes = [
            ("fsync", "off", "on", "fsync is off in PostgreSQL"),
            ("default_transaction_read_only", "on", "off", "PostgreSQL allows no writing"),
        ];
        for (round, (setting, wrong, right, reported)) in changes.into_iter().enumerate() {
            goes_on(&store, &format!("job_{round}")).await;
            operator.batch_execute("SET default_transaction_read_only = off").await.unwrap();
            set(&scene::connect(&server.url()).await, setting, wrong).await;
            // A connection that was there finds it. It may be in use, and a new one is refused.
            let found = match store.health().await {
                Ok(health) => health.findings.join("; "),
                Err(error) => error.to_string(),
            };
            assert!(found.starts_with(reported), "{found}");
            // Connections that were there are checked again after some minutes.
            pass(Duration::from_secs(200)).await;
            let error = store.record(arrival("job_9", "{}")).await.unwrap_err();
            assert!(error.is_transient() && error.to_string().starts_with(reported), "{error:?}");
            set(&operator, setting, right).await;
            goes_on(&store, &format!("job_{round}_again")).await;
            assert_eq!(store.health().await.unwrap().findings, [""; 0]);
        }

        // The tables are looked at within a minute.
        let trigger = "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
            CREATE TRIGGER t BEFORE UPDATE ON article_inbox_jobs FOR EACH ROW EXECUTE FUNCTION skip()";
        operator.batch_execute(trigger).await.unwrap();
        pass(Duration::from_secs(61)).await;
        let error = store.record(arrival("job_2", "{}")).await.unwrap_err();
        let found =
            "the trigger t may skip or change rows of article_inbox_jobs: drop it, or run it AFTER";
        assert_eq!((error.is_transient(), error.to_string().as_str()), (true, found));
        operator.batch_execute("DROP FUNCTION skip() CASCADE").await.unwrap();
        goes_on(&store, "job_2").await;
    });
}

/// PostgreSQL ends no COMMIT whose standby is missing, also if its connection is gone.
#[test]
fn a_missing_standby_takes_no_further_connections_and_health_says_so() {
    let Some(server) = Server::start(&[]) else { return };
    on_a_clock(async {
        let settings = fresh(&server.url()).receiving_connections(1).unwrap();
        let store = PostgresStore::connect(settings).await.unwrap();
        let inbox = Inbox::new(store.clone());
        let operator = scene::connect(&server.url()).await;
        set(&operator, "synchronous_standby_names", "missing").await;
        let delivery = fixture::complete().job_id("job_1").delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Unavailable, "after two seconds");
        // The commit is waited for longer than by the receiver.
        tokio::time::sleep(Duration::from_millis(2500)).await;
        let health = inbox.health().await.store.unwrap();
        let blocked = health.blocked.expect("it is known why");
        let look = "so that its outcome is unknown: look for a synchronous standby that is missing, or for a disk that is slow";
        assert!(blocked.to_string().ends_with(look), "{blocked}");
        let reported = "no synchronous standby is connected, so that no delivery is acknowledged: bring one back, or change \
            synchronous_standby_names";
        assert_eq!(health.findings[0], reported);

        for round in 0..4 {
            pass(Duration::from_secs(130)).await;
            // What has passed was asked for meanwhile.
            tokio::time::sleep(Duration::from_millis(300)).await;
            let error = store.record(arrival(&format!("job_{round}"), "{}")).await.unwrap_err();
            assert!(error.is_transient(), "{error:?}");
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = 'postgres'";
            let waiting: i64 = operator.query_one(waiting, &[]).await.unwrap().get(0);
            // One delivery, and the jobs that are expected because it was refused.
            assert!((1..=3).contains(&waiting), "{waiting} in round {round}");
            let says = "wait for the answer to a COMMIT, as they do while a synchronous standby is missing: bring it back, or change \
                synchronous_standby_names";
            assert!(error.to_string().ends_with(says), "{error:?}");
        }
        set(&operator, "synchronous_standby_names", "").await;
        goes_on(&store, "job_1").await;
        let health = store.health().await.unwrap();
        assert!(health.blocked.is_none() && health.findings.is_empty(), "{health:?}");
        assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Duplicate);
    });
}
