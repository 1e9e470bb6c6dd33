//! Connections that fail, and servers that do not answer.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    Error,
    store::{Recorded, Store as _},
};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio::task::JoinSet;

use crate::{
    KILL, arrival,
    proxy::{Fate, Proxy},
    refusals::refused,
    scene::{self, wait},
    server::Server,
};

/// A server, a proxy before it, and the settings of a store that goes through it.
fn scene() -> Option<(Server, Proxy, PostgresSettings)> {
    let server = Server::start(&[])?;
    let proxy = Proxy::before(server.port);
    let url = format!("postgresql://postgres@127.0.0.1:{}/postgres", proxy.port);
    Some((server, proxy, PostgresSettings::new(&url).unwrap()))
}

/// When a pooler refuses.
#[derive(Clone, Copy)]
enum Refuses {
    Login,
    Statement,
}

/// A pooler that refuses once, as PgBouncer does: with its own code for all that it says, and the end of the connection.
fn pooler(when: Refuses, sentence: &str) -> PostgresSettings {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fields = format!("SFATAL\0C08P01\0M{sentence}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    let refusal = [b"E", &length[..], fields.as_bytes()].concat();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut asked = [0; 4096];
        assert!(client.read(&mut asked).unwrap() > 0);
        if let Refuses::Statement = when {
            client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
            assert!(client.read(&mut asked).unwrap() > 0);
        }
        client.write_all(&refusal).unwrap();
    });
    let url = format!("postgresql://blog:canary@127.0.0.1:{port}/blog?sslmode=disable");
    PostgresSettings::new(&url).unwrap()
}

#[test]
fn what_a_pooler_refuses_is_reported_as_the_poolers_own() {
    let of_login = "correct the role and the password of the URL, or those that the pooler knows, such as in its auth_file";
    let of_server = "start PostgreSQL, or correct the host and the login that the pooler has for it; its log says more";
    let of_database = "add the database to those of the pooler, or correct its name in the URL";
    for (sentence, remedy, is_transient) in [
        ("no such database: blog", of_database, false),
        ("password authentication failed", of_login, false),
        ("no such user: blog", of_login, false),
        ("pgbouncer cannot connect to server", of_server, true),
        ("server login has been failing, try again later (server_login_retry)", of_server, true),
        (
            "server login failed: FATAL password authentication failed for user \"blog\"",
            of_server,
            true,
        ),
        ("no more connections allowed (max_client_conn)", "look at its log and its settings", true),
    ] {
        for when in [Refuses::Login, Refuses::Statement] {
            let error = refused(pooler(when, sentence));
            let says = format!("the pooler before PostgreSQL refuses: {sentence}: {remedy}");
            assert_eq!((error.to_string(), error.is_transient()), (says, is_transient));
        }
    }
}

#[test]
fn a_commit_that_is_not_answered_is_unknown_and_is_not_cancelled() {
    let Some((_server, proxy, settings)) = scene() else { return };
    wait(async move {
        // It gives its place back.
        let settings = settings.receiving_connections(1).unwrap();
        let store = PostgresStore::connect(settings).await.unwrap();
        proxy.once(Fate::Unanswered);
        // A receiver waits for five seconds.
        let recorded =
            tokio::time::timeout(Duration::from_secs(5), store.record(arrival("job_1", "{}")));
        let error = recorded.await.expect("the caller gets an error in time").unwrap_err();
        assert!(error.is_transient() && error.to_string().contains("unknown"), "{error:?}");
        let blocked = store.health().await.unwrap().blocked.expect("it is known why");
        assert_eq!(blocked.to_string(), error.to_string());
        assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), Recorded::Duplicate);
        assert!(store.health().await.unwrap().blocked.is_none());
    });
}

#[test]
fn a_server_that_stops_answering_holds_no_call_and_is_used_again() {
    let Some((_server, proxy, settings)) = scene() else { return };
    wait(async move {
        let settings = settings.receiving_connections(1).unwrap();
        let store = PostgresStore::connect(settings).await.unwrap();
        store.record(arrival("job_1", "{}")).await.unwrap();
        proxy.mute();
        // First on a connection that was there, then without one.
        for _ in 0..2 {
            let longest = Duration::from_secs(10);
            let recorded = tokio::time::timeout(longest, store.record(arrival("job_1", "{}")));
            let recorded = recorded.await.expect("no call is held");
            assert!(recorded.is_err_and(|error| error.is_transient()));
        }
        proxy.unmute();
        // The delivery may be in the middle of its commit, until the server says that it is not.
        let again = async {
            loop {
                if let Ok(recorded) = store.record(arrival("job_1", "{}")).await {
                    break recorded;
                }
            }
        };
        let again = tokio::time::timeout(Duration::from_secs(30), again).await;
        assert_eq!(again.expect("it is used again"), Recorded::Duplicate);
    });
}

#[test]
fn a_first_host_that_says_nothing_does_not_hide_the_others() {
    let Some(server) = Server::start(&[]) else { return };
    let Some(read_only) = Server::start(&["default_transaction_read_only = on"]) else { return };
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().map(|address| (silent, address.port())).unwrap();
    let hosts = [silent.1, read_only.port, server.port].map(|port| format!("127.0.0.1:{port}"));
    let url = format!("postgresql://postgres@{}/postgres", hosts.join(","));
    wait(async move {
        let start = Instant::now();
        let settings = PostgresSettings::new(&url).unwrap().receiving_connections(1).unwrap();
        let store = PostgresStore::connect(settings.clone()).await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
        store.record(arrival("job_1", "{}")).await.unwrap();

        // It delays one connection, and not each.
        scene::connect(&server.url()).await.batch_execute(KILL).await.unwrap();
        let start = Instant::now();
        while store.record(arrival("job_1", "{}")).await.is_err() {}
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());

        // A connection beside those of the inbox may lead to any that answers.
        let client = settings.client().await.unwrap();
        let port = "SELECT current_setting('port')";
        let port = client.query_one(port, &[]).await.unwrap().get::<_, String>(0);
        assert_eq!(port, read_only.port.to_string());
        let both = format!("postgresql://postgres@{},{}/postgres", hosts[1], hosts[0]);
        let error = PostgresStore::connect(PostgresSettings::new(&both).unwrap()).await;
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("PostgreSQL allows no writing"), "{error}");
    });
}

/// One that waits for a row fails alone.
#[test]
fn deliveries_that_are_stored_together_do_not_wait_for_one_that_is_locked() {
    let Some(server) = Server::start(&[]) else { return };
    let settings = PostgresSettings::new(&server.url()).unwrap();
    wait(async move {
        let store = Arc::new(PostgresStore::connect(settings).await.unwrap());
        let deliver = |job: String, body: &str| {
            let (store, arrival) = (Arc::clone(&store), arrival(&job, body));
            async move { (store.record(arrival).await, Instant::now()) }
        };
        deliver("locked".into(), "{}").await.0.unwrap();
        let (mut program, mut other) =
            (scene::connect(&server.url()).await, scene::connect(&server.url()).await);
        let holds = program.transaction().await.unwrap();
        let hold = "SELECT FROM article_inbox_entries WHERE job_id = 'locked' FOR UPDATE";
        holds.batch_execute(hold).await.unwrap();
        // Four deliveries take all connections, and the others are stored together after them.
        let stops = other.transaction().await.unwrap();
        stops.batch_execute("LOCK TABLE article_inbox_bodies IN EXCLUSIVE MODE").await.unwrap();
        let (mut stopped, mut together) = (JoinSet::new(), JoinSet::new());
        for number in 0..4 {
            stopped.spawn(deliver(format!("first_{number}"), "{}"));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        for number in 0..20 {
            together.spawn(deliver(format!("new_{number}"), "{}"));
        }
        let locked = tokio::spawn(deliver("locked".into(), "{\"a\":1}"));
        tokio::time::sleep(Duration::from_millis(100)).await;
        stops.commit().await.unwrap();
        let start = Instant::now();
        for (recorded, _) in stopped.join_all().await {
            assert_eq!(recorded.unwrap(), Recorded::Stored);
        }
        for (recorded, at) in together.join_all().await {
            assert_eq!(recorded.unwrap(), Recorded::Stored);
            // They are stored by halves. If each half waited for the lock as long as a delivery alone, 800 ms, the last would be
            // stored after four seconds.
            let took = at.duration_since(start);
            assert!(took < Duration::from_secs(4), "after {took:?}");
        }
        let (recorded, _) = locked.await.unwrap();
        let error = recorded.unwrap_err();
        let says = "another transaction holds the entry: if it is of another program, end it; if it is a COMMIT of the inbox, bring back the \
            standby that it waits for (SQLSTATE 55P03)";
        assert!(error.is_transient() && error.to_string() == says, "{error:?}");
        holds.commit().await.unwrap();
        let (recorded, _) = deliver("locked".into(), "{\"a\":1}").await;
        recorded.unwrap();
    });
}

#[test]
fn a_server_before_13_is_refused() {
    let Some((server, proxy, settings)) = scene() else { return };
    let number =
        "SELECT current_setting('server_version_num')::int, current_setting('server_version')";
    let url = server.url();
    let (number, version): (i32, String) = wait(async move {
        let row = scene::connect(&url).await.query_one(number, &[]).await.unwrap();
        (row.get(0), row.get(1))
    });
    let old = format!("12{}", &version[2..]);
    proxy.lie(&[
        (&number.to_be_bytes(), &120_022_i32.to_be_bytes()),
        (version.as_bytes(), old.as_bytes()),
    ]);
    let error: Error = wait(PostgresStore::connect(settings.clone())).unwrap_err();
    let reported = format!("this is PostgreSQL {old}, and the inbox needs 13 or newer: upgrade it");
    assert_eq!(error.to_string(), reported);
    assert!(!error.is_transient());
    proxy.lie(&[]);
    wait(PostgresStore::connect(settings)).unwrap();
}
