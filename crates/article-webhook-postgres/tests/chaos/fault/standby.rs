use std::{
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::store::{Recorded, Store as _};
use article_webhook_inbox_contract::arrival;
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    database::Database,
    form::Form,
    log,
    scene::{self, wait},
    server::{Server, free_port},
    trial,
};

/// The server ends, and the standby that it waited for takes over.
pub(crate) fn switch(form: Form) -> Option<()> {
    let mut primary = Server::start(&[])?;
    let mut free = free_port();
    trial::run("switch", Database::fresh(&[primary.port, free]), |trial| {
        let database = &trial.database;
        let switches = form.choose(2, 20);
        for _ in 0..switches {
            let standby = primary.standby(free);
            database.set("synchronous_standby_names = 'standby'");
            database.wait_for("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
            trial.goes_on("with a synchronous standby");
            thread::sleep(Duration::from_millis(fastrand::u64(20..500)));

            primary.crash();
            promote(&standby);
            trial.goes_on("after the standby took over");
            free = primary.port;
            primary = standby;
        }
        format!("{switches} failovers to a synchronous standby")
    });
    Some(())
}

/// A standby that follows asynchronously may lack what came last when it takes over. Health says so, and the log at the start.
pub(crate) fn async_standby(_: Form) -> Option<()> {
    let primary = Server::start(&[])?;
    let standby = primary.standby(free_port());
    let database = Database::fresh(&[primary.port, standby.port]);
    database.wait_for("SELECT FROM pg_stat_replication WHERE state = 'streaming'");
    log::keep();
    let warnings = wait(connect(&database).health()).unwrap().warnings;
    let warning = "a standby follows this server asynchronously";
    assert!(warnings.iter().any(|found| found.starts_with(warning)), "{warnings:?}");
    let (log, reported) = (log::kept(), format!("WARN article_webhook_inbox: {warning}"));
    assert_eq!(log.matches(&reported).count(), 1, "{log}");
    println!("postgres: async_standby: warned at the start");
    Some(())
}

/// The wait for a standby is cancelled. The row is visible, and not safe, so neither it nor its duplicate is acknowledged.
pub(crate) fn cancelled_wait(_: Form) -> Option<()> {
    let server = Server::start(&[])?;
    let database = Database::fresh(&[server.port]);
    let store = connect(&database);
    database.set("synchronous_standby_names = 'missing'");
    database.wait_for("SELECT WHERE current_setting('synchronous_standby_names') = 'missing'");

    let record = || {
        let store = store.clone();
        thread::spawn(move || wait(store.record(arrival("job_1", "{}"))))
    };
    let first = record();
    let waits = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    database.wait_for(waits);
    database
        .run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    let error = first.join().unwrap().unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("with a warning"), "{error:?}");
    let seen =
        database.run(&format!("SELECT job_id FROM {}.article_inbox_entries", database.schema));
    assert_eq!(seen, [["job_1"]], "the row is there");

    // It stays there without an answer, until the standby is there, or is not wanted any more.
    let start = Instant::now();
    let error = record().join().unwrap().unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("unknown"), "{error:?}");
    assert!(
        start.elapsed() > Duration::from_secs(3),
        "a duplicate of an unsafe row is not waited for"
    );
    let waiting = database.run(waits).len();
    assert_eq!(waiting, 1, "the commit goes on without its caller");
    let blocked = wait(store.health()).unwrap().blocked;
    assert!(
        blocked.is_some_and(|blocked| blocked.to_string().contains("unknown")),
        "health says it"
    );

    // That commit holds the job, so that the next delivery waits for it.
    let error = record().join().unwrap().unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("bring back"), "{error:?}");
    database.set("synchronous_standby_names = DEFAULT");
    assert_eq!(record().join().unwrap().unwrap(), Recorded::Duplicate);
    assert!(wait(store.health()).unwrap().blocked.is_none());
    println!(
        "postgres: cancelled_wait: neither the row nor its duplicate is acknowledged before it is safe"
    );
    Some(())
}

/// A store beside those of the nodes.
pub(super) fn connect(database: &Database) -> PostgresStore {
    let settings = PostgresSettings::new(&database.url()).unwrap();
    let settings = settings.schema(&database.schema).unwrap();
    wait(PostgresStore::connect(settings)).unwrap()
}

fn promote(standby: &Server) {
    let url = standby.url();
    let promote =
        async move { scene::connect(&url).await.batch_execute("SELECT pg_promote()").await };
    wait(promote).unwrap();
}
