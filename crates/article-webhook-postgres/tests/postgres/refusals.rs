//! Bad URLs and servers: each is a clear error with what to do, within ten seconds.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    Error,
    store::{Outcome, Recorded, Settled, Store as _},
};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio::time::timeout;

use crate::{
    CLAIM, Scene, arrival, fresh,
    scene::{self, wait},
    server::{Server, free_port},
};

/// The error of a start, which no secret is in.
pub(crate) fn refused(settings: PostgresSettings) -> Error {
    let start = Instant::now();
    let error = wait(PostgresStore::connect(settings)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(10), "after {:?}: {error:?}", start.elapsed());
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    error
}

pub(crate) fn says(error: &Error, what: &str) {
    assert!(format!("{error:?}").contains(what), "{error:?}");
}

/// Runs statements as the server's superuser.
pub(crate) fn run(url: &str, statements: &str) {
    wait(async { scene::connect(url).await.batch_execute(statements).await }).unwrap();
}

#[test]
fn a_server_that_says_nothing_does_not_hang_the_start() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgresql://blog:canary@127.0.0.1:{port}/blog");
    let settings = PostgresSettings::new(&url).unwrap();
    let error = refused(settings.clone());
    assert!(error.is_transient(), "{error:?}");
    says(
        &error,
        " seconds: check the host and the port of the URL, and whether a firewall drops what is sent there",
    );
    // Nor does a connection beside the inbox hang.
    let client = async { timeout(Duration::from_secs(10), settings.client()).await };
    assert!(wait(client).expect("no call is held").is_err_and(|error| error.is_transient()));
}

#[test]
fn tables_of_others_are_left_alone() {
    let Some(scene) = Scene::shared() else { return };
    scene.run("CREATE SCHEMA S; CREATE TABLE S.article_inbox_entries ()");
    says(&refused(scene.settings.clone()), "if not, name another schema");
}

#[test]
fn a_server_that_may_lose_what_it_committed_is_refused() {
    for setting in ["fsync", "full_page_writes"] {
        let Some(server) = Server::start(&[&format!("{setting} = off")]) else { return };
        let error = refused(fresh(&server.url()));
        says(&error, &format!("{setting} is off in PostgreSQL"));
        assert!(!error.is_transient());
    }
}

#[test]
fn a_server_that_allows_no_writing_is_refused() {
    let Some(server) = Server::start(&["default_transaction_read_only = on"]) else { return };
    let error = refused(fresh(&server.url()));
    says(
        &error,
        "PostgreSQL allows no writing, because it is a standby or default_transaction_read_only is on",
    );
    drop(server);

    let Some(server) = Server::start(&[]) else { return };
    let standby = server.standby(free_port());
    let settings = fresh(&standby.url());
    // A standby may be about to take over.
    let error = refused(settings.clone());
    says(&error, "connect to the primary server");
    assert!(error.is_transient());
    run(&standby.url(), "SELECT pg_promote()");
    wait(PostgresStore::connect(settings)).unwrap();
}

/// Makes the role `blog` with the password `right`.
pub(crate) fn with_password(server: &Server) {
    run(
        &server.url(),
        "CREATE ROLE blog LOGIN PASSWORD 'right'; GRANT CREATE ON DATABASE postgres TO blog",
    );
    ask_for_password(server, "scram-sha-256");
}

/// Lets the server ask for the password of the role `blog` by this method.
pub(crate) fn ask_for_password(server: &Server, method: &str) {
    let rules = server.folder().join("data/pg_hba.conf");
    let rules = rules.display();
    let lines =
        format!("host all blog 127.0.0.1/32 {method}\nhost all postgres 127.0.0.1/32 trust");
    run(
        &server.url(),
        &format!("COPY (SELECT unnest(string_to_array(E'{lines}', E'\n'))) TO '{rules}'"),
    );
    run(&server.url(), "SELECT pg_reload_conf()");
}

#[test]
fn a_role_that_may_not_write_is_reported_and_stricter_settings_of_a_role_do_not_matter() {
    let Some(server) = Server::start(&[]) else { return };
    run(
        &server.url(),
        "CREATE ROLE blog LOGIN; GRANT CREATE ON DATABASE postgres TO blog; \
         ALTER ROLE blog SET default_transaction_read_only = on",
    );
    let url = server.url().replace("postgres@", "blog@");
    let error = refused(fresh(&url));
    says(&error, "or turn that setting off for the role");
    assert!(error.is_transient());

    run(
        &server.url(),
        "ALTER ROLE blog SET default_transaction_read_only = off; ALTER ROLE blog SET statement_timeout = '20ms'; \
         ALTER ROLE blog SET lock_timeout = '1ms'; ALTER ROLE blog SET idle_in_transaction_session_timeout = '5ms'; \
         ALTER ROLE blog SET default_transaction_isolation = 'serializable'; \
         ALTER ROLE blog SET default_transaction_deferrable = on; ALTER ROLE blog SET client_min_messages = 'debug5'",
    );
    // A word of SQL is a plain name as well.
    let settings = PostgresSettings::new(&url).unwrap().schema("order").unwrap();
    wait(async {
        let nodes = [settings.clone(), settings.clone()].map(PostgresStore::connect);
        let mut stores = Vec::new();
        for node in nodes.map(tokio::spawn) {
            stores.push(node.await.unwrap().unwrap());
        }
        let [store, other] = &stores[..] else { panic!("there are two") };
        assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Stored);
        assert_eq!(other.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Duplicate);
        let lease = other.claim(CLAIM).await.unwrap().claimed[0].lease;
        let completion = store.completion(lease).unwrap();
        assert!(completion.sql().contains("\"order\".article_inbox_entries"));
        // A lock that lasts longer than the time-outs of the role is waited for.
        let mut holder = scene::connect(&server.url()).await;
        let holds = holder.transaction().await.unwrap();
        holds
            .batch_execute("LOCK \"order\".article_inbox_entries IN EXCLUSIVE MODE")
            .await
            .unwrap();
        let (recorded, ()) = tokio::join!(store.record(arrival("job_2", "{}")), async {
            let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
            while holds.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
            tokio::time::sleep(Duration::from_millis(200)).await;
            holds.commit().await.unwrap();
        });
        assert_eq!(recorded.unwrap(), Recorded::Stored);
        assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled);
        assert!(store.check().await.unwrap().is_empty());
    });
    run(&server.url(), "UPDATE \"order\".article_inbox_meta SET value = 1000");
    says(&refused(settings), "the schema \"order\" has version 1000");
}
