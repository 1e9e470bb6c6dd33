//! Tables that an administrator has changed: nothing is acknowledged that is not kept, and the finding names the table.

use std::time::Duration;

use article_webhook_inbox::store::{Claimed, Outcome, Recorded, Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    CLAIM, Scene, arrival, log, record,
    refusals::{refused, says},
    scene::wait,
};

/// A function that skips the row of a trigger which runs before it.
const SKIP: &str =
    "CREATE FUNCTION S.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'";

#[test]
fn tables_that_may_lose_rows_refuse_a_start_and_are_found_later() {
    let Some((scene, store)) = Scene::opened() else { return };
    scene.run(SKIP);
    for [change, reported, undo] in scene.changes("rows may be lost") {
        scene.run(&change);
        let error = refused(scene.settings.clone());
        says(&error, &reported);
        assert!(!error.is_transient());
        // A connection that was there finds it, and a new one is refused.
        let found = match wait(store.health()) {
            Ok(health) => health.findings.join("; "),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(&reported), "{found}");
        // Without a table, it cannot look at the rows.
        let checked = format!("{:?}", wait(store.check()));
        assert!(checked.contains(&reported) || checked.contains("does not exist"), "{checked}");
        scene.run(&undo);
        let findings = wait(store.health()).unwrap().findings;
        assert!(!findings.iter().any(|found| found.contains(&reported)), "{findings:?}");
    }
    scene.store();
}

#[test]
fn what_a_trigger_or_a_rule_skips_is_not_acknowledged() {
    let Some((scene, store)) = Scene::opened() else { return };
    record(&store, "known");
    wait(store.intend("known-intent", Duration::from_secs(30), 1, None)).unwrap();
    scene.run(SKIP);
    let rule = "CREATE RULE t AS ON INSERT TO S.article_inbox_bodies DO INSTEAD NOTHING";
    let trigger = "CREATE TRIGGER t BEFORE INSERT ON S.article_inbox_bodies FOR EACH ROW EXECUTE FUNCTION S.skip()";
    for (kind, change) in [("TRIGGER", trigger), ("RULE", rule)] {
        scene.run(change);
        for (job, body) in [("new", "{}"), ("known", "{ }")] {
            let error = wait(store.record(arrival(job, body))).unwrap_err();
            assert!(error.is_transient(), "{error:?}");
        }
        // One that the ledger knows comes another way.
        let mut known = arrival("of_an_intent", "{}");
        known.intent = Some("known-intent".into());
        assert!(wait(store.record(known)).is_err());
        scene.run(&format!("DROP {kind} t ON S.article_inbox_bodies"));
    }
    assert_eq!(record(&store, "new"), Recorded::Stored);
    assert_ne!(wait(store.record(arrival("known", "{ }"))).unwrap(), Recorded::Duplicate);

    let trigger = "CREATE TRIGGER t BEFORE UPDATE ON S.article_inbox_entries FOR EACH ROW EXECUTE FUNCTION S.skip()";
    scene.run(trigger);
    // The claim is made again, and finds nothing while the server still ends its first transaction.
    let claims = wait(store.claim(CLAIM));
    let is_empty = claims.as_ref().map_or(true, |claims| claims.claimed.is_empty());
    assert!(is_empty, "what is not leased is not handed out: {claims:?}");
    scene.run("DROP TRIGGER t ON S.article_inbox_entries");
    let claimed = claimed(&store, 2);
    scene.run(trigger);
    for claimed in &claimed {
        let settled = wait(store.settle(claimed.lease, Outcome::Done));
        assert!(settled.is_err(), "it is not done");
    }
}

#[test]
fn a_policy_that_hides_rows_is_an_outage_and_not_the_end_of_an_entry() {
    let Some(scene) = Scene::of_role() else { return };
    let store = scene.store();
    record(&store, "job_1");
    scene.run("ALTER TABLE S.article_inbox_bodies ENABLE ROW LEVEL SECURITY");
    assert_eq!(
        refused(scene.settings.clone()).to_string(),
        "row level security may hide rows of article_inbox_bodies: disable it, or give the role BYPASSRLS"
    );
    let error = format!("{:?}", wait(store.claim(CLAIM)).unwrap_err());
    // A connection that is opened now says it as a start does.
    let by_server = error.contains("row-level security policy for table");
    assert!(by_server || error.contains("row level security may hide rows"), "{error}");
    scene.run("ALTER ROLE R BYPASSRLS");
    scene.store();
    let claimed = claimed(&store, 1);
    assert_eq!((claimed.len(), claimed[0].bodies.len()), (1, 1));
}

/// Claims this number of entries. A claim finds nothing while the server still ends the transaction of one that failed.
fn claimed(store: &PostgresStore, count: usize) -> Vec<Claimed> {
    let mut claimed = Vec::new();
    while claimed.len() < count {
        claimed.extend(wait(store.claim(CLAIM)).unwrap().claimed);
    }
    claimed
}

#[test]
fn columns_that_others_add_change_nothing() {
    let Some((scene, store)) = Scene::opened() else { return };
    for table in ["entries", "bodies", "jobs", "intents"] {
        for column in ["place", "job_ids", "now", "new", "due", "before", "named", "key"] {
            scene.run(&format!("ALTER TABLE S.article_inbox_{table} ADD {column} bigint"));
        }
    }
    assert_eq!(record(&store, "job_1"), Recorded::Stored);
    let claimed = claimed(&store, 1);
    wait(store.settle(claimed[0].lease, Outcome::Done)).unwrap();
}

#[test]
fn a_search_path_that_hides_the_functions_of_postgresql_is_refused() {
    let Some(scene) = Scene::shared() else { return };
    scene.store();
    let with = |path: &str| {
        let url = format!("{}?options=-csearch_path%3D{path}", scene.url);
        PostgresSettings::new(&url).unwrap().schema(&scene.schema).unwrap()
    };
    let error = refused(with("public,pg_catalog"));
    says(&error, "search_path names another schema before pg_catalog");
    assert!(!error.is_transient());
    wait(PostgresStore::connect(with("public"))).unwrap();
}

#[test]
fn an_empty_inbox_that_a_start_makes_beside_another_is_reported() {
    let Some(scene) = Scene::of_new_role() else { return };
    log::keep();
    let (schema, database) = (&scene.schema, scene.url.rsplit_once('/').unwrap().1);
    scene.run(&format!("GRANT CREATE ON DATABASE {database} TO R"));
    record(&scene.store(), "job_1");
    assert!(!log::kept().contains(&format!("the inbox in the schema \"{schema}\" is new")));

    scene.run(&format!("ALTER SCHEMA S RENAME TO {schema}_gone"));
    assert_eq!(wait(scene.store().counts()).unwrap().total(), 0);
    let says = format!(
        "the inbox in the schema \"{schema}\" is new and empty, and there is one in {schema}_gone: if that is the one that is meant, \
         name it with PostgresSettings::schema, or with ?schema=NAME for the tool"
    );
    assert_eq!(log::kept().matches(&says).count(), 1);
    let meant = scene.settings_of(&scene.role, &format!("{schema}_gone"));
    let meant = wait(PostgresStore::connect(meant)).unwrap();
    assert_eq!(wait(meant.counts()).unwrap().total(), 1);
}
