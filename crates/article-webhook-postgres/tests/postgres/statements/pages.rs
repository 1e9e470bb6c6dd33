//! Pages that the server cannot read. Each costs what is on it.

use std::{iter::repeat_with, time::Duration};

use article_webhook_inbox::{
    Error, Finding, JobState, State,
    store::{Expect, Ledger as _, Recorded, Store as _},
};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::{CLAIM, arrival, fresh, scene, scene::wait, schema, server::Server};

const PAGE: usize = 8192;

/// A page of a table is overwritten while the server is down.
fn damage(server: &mut Server, table: &str, page: usize) {
    let url = server.url();
    let query = async |query: &str| {
        let application = scene::connect(&url).await;
        application.batch_execute("CHECKPOINT").await.unwrap();
        application.query_one(query, &[]).await.unwrap().get::<_, String>(0)
    };
    // What changes after a checkpoint is written again at a start, and the store may have something left to send.
    wait(query("SELECT ''"));
    server.crash();
    server.start_again();
    let file = wait(query(&format!("SELECT pg_relation_filepath('{table}'::regclass)")));
    server.crash();
    let file = server.folder().join("data").join(file);
    let mut bytes = std::fs::read(&file).unwrap();
    assert!(bytes.len() > (page + 1) * PAGE, "new rows go to a page after it");
    bytes[page * PAGE..][..PAGE].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    server.start_again();
}

/// The result of a call. The first calls after a start find their connections lost.
macro_rules! reached {
    ($call:expr) => {
        loop {
            match $call.await {
                Err(error) if error.to_string().contains("the connection") => {}
                result => break result,
            }
        }
    };
}

fn told(findings: &[Finding], about: &str) -> usize {
    findings.iter().filter(|finding| finding.to_string().contains(about)).count()
}

#[test]
fn a_page_of_bodies_that_cannot_be_read_keeps_no_other_entry_from_being_claimed() {
    let Some(mut server) = Server::start(&[]) else { return };
    let settings = fresh(&server.url());
    let schema = schema(&settings);
    let store = wait(PostgresStore::connect(settings)).unwrap();
    wait(async {
        let job = "job_1".parse().unwrap();
        store.expect(vec![Expect::job(job, std::time::SystemTime::now())]).await.unwrap();
        for job in 1..=15 {
            // Some are on a page, and none has a page of its own.
            let body: String = repeat_with(fastrand::alphanumeric).take(1500).collect();
            store.record(arrival(&format!("job_{job}"), &body)).await.unwrap();
        }
    });
    damage(&mut server, &format!("{schema}.article_inbox_bodies"), 0);
    wait(async {
        let findings = reached!(store.check()).unwrap();
        let unreadable = told(&findings, "its bodies cannot be read, a page is damaged");
        assert!((2..10).contains(&unreadable), "{findings:?}");
        assert!(findings[0].to_string().starts_with("entry 1: "), "{findings:?}");

        let claimed = reached!(store.claim(CLAIM)).unwrap().claimed;
        assert_eq!(claimed.len(), 15 - unreadable);
        let counts = store.counts().await.unwrap();
        assert_eq!(counts.of(State::Corrupt), unreadable as u64);
        let findings = store.health().await.unwrap().findings;
        let cause =
            "job_1 (article.complete), is corrupt: its bodies cannot be read, a page is damaged";
        assert!(findings.iter().any(|finding| finding.contains(cause)), "{findings:?}");
        assert_eq!(told(&store.check().await.unwrap(), "is corrupt"), unreadable);

        // It is asked for, and its next delivery brings it again.
        let job = || "job_1".parse().unwrap();
        assert_eq!(store.job(job()).await.unwrap().unwrap().state, JobState::Expected);
        // It fits into no room that is left on the page.
        let body = "{".repeat(1500);
        let recorded = store.record(arrival("job_1", &body)).await.unwrap();
        assert!(matches!(recorded, Recorded::Arrived { .. }), "{recorded:?}");
        let claimed = store.claim(CLAIM).await.unwrap().claimed;
        assert_eq!(claimed[0].key.job_id, job());
        assert_eq!(claimed[0].bodies[0].bytes.as_deref(), Some(body.as_bytes()));
    });
}

#[test]
fn a_page_of_entries_that_cannot_be_read_is_told_and_costs_the_calls_about_them() {
    let Some(mut server) = Server::start(&[]) else { return };
    let settings = fresh(&server.url()).receiving_connections(1).unwrap();
    let schema = schema(&settings);
    let store = wait(PostgresStore::connect(settings)).unwrap();
    let leases = wait(async {
        for job in 1..=100 {
            store.record(arrival(&format!("job_{job}"), "{}")).await.unwrap();
        }
        let claimed = store.claim(CLAIM).await.unwrap().claimed;
        claimed.iter().map(|claimed| claimed.lease).collect::<Vec<_>>()
    });
    damage(&mut server, &format!("{schema}.article_inbox_entries"), 0);
    wait(async {
        let findings = reached!(store.check()).unwrap();
        let unreadable = told(&findings, "its row cannot be read, a page is damaged");
        assert!((2..90).contains(&unreadable), "{findings:?}");
        assert_eq!(told(&findings, "its bodies cannot be read"), 0, "{findings:?}");

        // The others are extended, and copies that come beside one of an unreadable entry are answered.
        let lease = Duration::from_secs(60);
        let held = reached!(store.extend(&leases, lease)).unwrap();
        assert_eq!(held, leases[unreadable..]);
        while store.probe().await.is_err() {}
        let mut deliveries = JoinSet::new();
        for number in unreadable + 1..=100 {
            let job = if number == 95 { 1 } else { number };
            let (store, arrival) = (store.clone(), arrival(&format!("job_{job}"), "{}"));
            deliveries.spawn(async move { store.record(arrival).await });
        }
        let recorded = deliveries.join_all().await;
        let failed = recorded.iter().filter_map(|recorded| recorded.as_ref().err());
        let failed: Vec<_> = failed.map(ToString::to_string).collect();
        assert_eq!(failed.len(), 1, "{failed:?}");

        let error: Error = reached!(store.claim(CLAIM)).unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        assert!(error.to_string().contains("cannot read what it has stored"), "{error}");
        let findings = store.health().await.unwrap().findings;
        let cause = "so that nothing can be claimed";
        assert!(findings.iter().any(|finding| finding.contains(cause)), "{findings:?}");
    });
}
