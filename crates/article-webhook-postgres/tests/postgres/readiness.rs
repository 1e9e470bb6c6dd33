//! Whether the inbox is ready is tried with what a delivery does. Each change here leaves the server running, and fails every delivery.

use std::{
    thread,
    time::{Duration, Instant},
};

use article_webhook::{Reply, Sink as _, fixture};
use article_webhook_inbox::{Error, Inbox, store::Store as _};

use crate::{CLAIM, Scene, arrival, log, record, scene::wait};

/// Within this time the inbox is not ready any more, and is ready again.
const LIMIT: Duration = Duration::from_secs(10);

/// What the inbox says once this is so.
fn ready_once(inbox: &Inbox, is_so: fn(&Result<(), Error>) -> bool) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        let ready = wait(inbox.ready());
        if is_so(&ready) {
            return ready;
        }
        // The last look may begin at the end of the ten seconds.
        let is_late = began.elapsed() > LIMIT + Duration::from_secs(1);
        let says = ready.map_or_else(|error| error.to_string(), |()| "ready".to_owned());
        assert!(!is_late, "{says} after ten seconds");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_fails_each_delivery_makes_the_inbox_not_ready_until_it_has_ended() {
    let Some(scene) = Scene::of_role() else { return };
    log::keep();
    // Each has an inbox of its own, so that none waits for the last probe of another.
    for [change, reported, undo] in scene.changes("deliveries cannot be stored") {
        let inbox = Inbox::new(scene.store());
        scene.run(&change);
        let found = ready_once(&inbox, Result::is_err).unwrap_err().to_string();
        let delivery = fixture::complete().job_id("job_1").delivery().unwrap();
        let answered = wait(inbox.accept(delivery));
        scene.run(&undo);
        assert!(found.starts_with(&reported), "{change}: {found}");
        assert_eq!(answered, Reply::Unavailable, "{change}");
        let logged = format!("a probe shows that deliveries cannot be stored: {reported}");
        assert!(log::kept().contains(&logged), "{change}");
        ready_once(&inbox, Result::is_ok).unwrap();
    }
    assert!(log::kept().contains("a probe shows that deliveries can be stored again"));
}

#[test]
fn what_hinders_workers_alone_is_reported_by_health_and_turns_no_delivery_away() {
    let Some(scene) = Scene::of_role() else { return };
    let changes = scene.changes("workers cannot change entries");
    for (number, [change, reported, undo]) in changes.enumerate() {
        let store = scene.store();
        let inbox = Inbox::new(store.clone());
        scene.run(&change);
        let (ready, health) = wait(async { (inbox.ready().await, inbox.health().await) });
        let delivery = fixture::complete().job_id(&format!("job_{number}")).delivery().unwrap();
        let (answered, claimed) = (wait(inbox.accept(delivery)), wait(store.claim(CLAIM)));
        scene.run(&undo);
        ready.unwrap();
        assert!(health.writable.is_ok(), "{change}");
        assert_eq!(health.store.unwrap().findings[0], reported);
        assert_eq!(answered, Reply::Stored, "{change}");
        assert!(claimed.unwrap_err().is_transient(), "it ends no worker: {change}");
        wait(store.probe()).unwrap();
        assert_eq!(wait(store.health()).unwrap().findings, [""; 0], "{undo}");
    }
}

#[test]
fn nodes_that_probe_at_once_do_not_wait_for_each_other() {
    let Some(scene) = Scene::of_role() else { return };
    scene.run(
        "CREATE FUNCTION S.hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); \
         RETURN NULL; END'; \
         CREATE TRIGGER t AFTER INSERT ON S.article_inbox_entries FOR EACH ROW EXECUTE FUNCTION S.hold()",
    );
    let stores = [scene.store(), scene.store(), scene.store()];
    wait(async {
        let program = scene.client().await;
        program.batch_execute("SELECT pg_advisory_lock(4711)").await.unwrap();
        let probes = stores.map(|store| tokio::spawn(async move { store.probe().await }));
        // All of them hold what they need until the program lets them go on, which is before the time-out of a lock.
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted";
        let end = Instant::now() + Duration::from_secs(1);
        let mut seen = 0;
        while seen < 3 && Instant::now() < end {
            seen = program.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0);
        }
        program.batch_execute("SELECT pg_advisory_unlock(4711)").await.unwrap();
        assert_eq!(seen, 3);
        for probe in probes {
            probe.await.unwrap().unwrap();
        }
        let counts = scene.store().counts().await.unwrap();
        assert_eq!(counts.total(), 0, "a probe leaves nothing");
    });
}

#[test]
fn a_table_that_is_set_unlogged_gets_no_delivery_from_the_first_on() {
    let Some(scene) = Scene::of_role() else { return };
    let store = scene.store();
    record(&store, "known");
    for (table, index) in [("entries", 0), ("bodies", 1), ("jobs", 2)] {
        let inbox = Inbox::new(store.clone());
        scene.run(&format!("ALTER TABLE S.article_inbox_{table} SET UNLOGGED"));
        let new = wait(store.record(arrival(&format!("job_{index}"), "{}")));
        // What it is a duplicate of would be lost as well.
        let known = wait(store.record(arrival("known", "{}")));
        let ready = wait(inbox.ready());
        scene.run(&format!("ALTER TABLE S.article_inbox_{table} SET LOGGED"));
        let expected =
            format!("a crash empties article_inbox_{table}, which is unlogged: SET LOGGED");
        for error in [new.unwrap_err(), known.unwrap_err(), ready.unwrap_err()] {
            assert!(error.is_transient(), "{error:?}");
            assert_eq!(error.to_string(), expected);
        }
        record(&store, &format!("job_{index}"));
    }
    scene.run("ALTER TABLE S.article_inbox_intents SET UNLOGGED");
    let error = wait(store.intend("order", Duration::from_secs(30), 1, None)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a crash empties article_inbox_intents, which is unlogged: SET LOGGED"
    );
    scene.run("ALTER TABLE S.article_inbox_intents SET LOGGED");
}
