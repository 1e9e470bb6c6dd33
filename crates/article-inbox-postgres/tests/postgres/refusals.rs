//! Bad URLs and servers: each is a clear error with what to do, within ten seconds.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use article_inbox::Error;
use article_inbox_postgres::{PostgresSettings, PostgresStore, connect};

use crate::{
    fresh,
    scene::{self, wait},
    server::{Server, shared_url},
};

/// The error of a start, which no secret is in.
fn refused(settings: PostgresSettings) -> Error {
    let start = Instant::now();
    let error = wait(PostgresStore::connect(settings)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(12), "{error:?}");
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    error
}

fn says(error: &Error, what: &str) {
    assert!(format!("{error:?}").contains(what), "{error:?}");
}

/// Runs statements as the server's superuser.
fn run(url: &str, statements: &str) {
    wait(async { scene::connect(url).await.batch_execute(statements).await }).unwrap();
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgresql://blog:canary@127.0.0.1:{port}/blog");
    let error = wait(connect(&url)).unwrap_err();
    assert!(error.is_transient());
    says(&error, "cannot be reached: start it");
}

#[test]
fn a_server_that_says_nothing_does_not_hang_the_start() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgresql://blog:canary@127.0.0.1:{port}/blog");
    let error = refused(PostgresSettings::new(&url).unwrap());
    assert!(error.is_transient(), "{error:?}");
}

#[test]
fn a_wrong_database_and_a_wrong_role_are_said() {
    let Some(url) = shared_url() else { return };
    let (server, database) = url.rsplit_once('/').unwrap();
    assert_eq!(database, "postgres");
    let error = refused(PostgresSettings::new(&format!("{server}/no_such_database")).unwrap());
    says(&error, "database \"no_such_database\" does not exist: create the database");
    assert!(!error.is_transient());

    let other = url.replace("postgres@", "no_such_role:canary@");
    says(&refused(PostgresSettings::new(&other).unwrap()), "correct the role and the password");
}

#[test]
fn a_role_without_rights_is_told_which() {
    let Some(url) = shared_url() else { return };
    let schema = scene::fresh_schema();
    run(
        &url,
        &format!("CREATE SCHEMA {schema}; DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN"),
    );
    let reader = PostgresSettings::new(&url.replace("postgres@", "reader@")).unwrap();
    says(&refused(reader.clone().schema(&schema).unwrap()), "grant it CREATE there");
    says(&refused(reader.schema(&scene::fresh_schema()).unwrap()), "may not create tables");
}

#[test]
fn tables_of_others_and_of_newer_versions_are_left_alone() {
    let Some(url) = shared_url() else { return };
    let schema = scene::fresh_schema();
    run(&url, &format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.article_inbox_entries ()"));
    let settings = PostgresSettings::new(&url).unwrap();
    says(
        &refused(settings.clone().schema(&schema).unwrap()),
        "article_inbox_entries, which is not of this inbox",
    );

    let schema = scene::fresh_schema();
    let settings = settings.schema(&schema).unwrap();
    wait(PostgresStore::connect(settings.clone())).unwrap();
    run(&url, &format!("UPDATE {schema}.article_inbox_meta SET value = 1000"));
    says(&refused(settings.clone()), "use a newer version of this program");
    run(&url, &format!("UPDATE {schema}.article_inbox_meta SET value = 1"));
    wait(PostgresStore::connect(settings)).unwrap();
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
    refused(fresh(&server.url()));
}
