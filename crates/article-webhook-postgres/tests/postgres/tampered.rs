//! Tables that an administrator has changed: nothing is acknowledged that is not kept, and the finding names the table.

use std::time::Duration;

use article_webhook_inbox::store::{Claimed, Outcome, Recorded, Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    CLAIM, NewStore, arrival, changes, fresh, log,
    refusals::{refused, run, says},
    scene::wait,
    schema,
    server::shared_url,
};

/// A function that skips the row of a trigger which runs before it.
fn skipping(schema: &str) -> String {
    format!(
        "CREATE FUNCTION {schema}.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    )
}

#[test]
fn tables_that_may_lose_rows_refuse_a_start_and_are_found_later() {
    let Some(NewStore { url, schema, settings, store }) = NewStore::shared() else { return };
    run(&url, &skipping(&schema));
    for [change, reported, undo] in changes("rows may be lost", &schema, "") {
        run(&url, &change);
        let error = refused(settings.clone());
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
        run(&url, &undo);
        assert!(
            !wait(store.health()).unwrap().findings.iter().any(|found| found.contains(&reported))
        );
    }
    wait(PostgresStore::connect(settings)).unwrap();
}

#[test]
fn what_a_trigger_or_a_rule_skips_is_not_acknowledged() {
    let Some(NewStore { url, schema, store, .. }) = NewStore::shared() else { return };
    wait(store.record(arrival("known", "{}"))).unwrap();
    wait(store.intend("known-intent", Duration::from_secs(30), 1, None)).unwrap();
    run(&url, &skipping(&schema));
    let trigger = |before: &str| {
        format!("CREATE TRIGGER t BEFORE {before} FOR EACH ROW EXECUTE FUNCTION {schema}.skip()")
    };
    let bodies = format!("{schema}.article_inbox_bodies");
    let rule = format!("CREATE RULE t AS ON INSERT TO {bodies} DO INSTEAD NOTHING");
    for (kind, change) in [("TRIGGER", trigger(&format!("INSERT ON {bodies}"))), ("RULE", rule)] {
        run(&url, &change);
        for (job, body) in [("new", "{}"), ("known", "{ }")] {
            let error = wait(store.record(arrival(job, body))).unwrap_err();
            assert!(error.is_transient(), "{error:?}");
        }
        // One that the ledger knows comes another way.
        let mut known = arrival("of_an_intent", "{}");
        known.intent = Some("known-intent".into());
        assert!(wait(store.record(known)).is_err());
        run(&url, &format!("DROP {kind} t ON {bodies}"));
    }
    assert_eq!(wait(store.record(arrival("new", "{}"))).unwrap(), Recorded::Stored);
    assert_ne!(wait(store.record(arrival("known", "{ }"))).unwrap(), Recorded::Duplicate);

    let entries = format!("{schema}.article_inbox_entries");
    let trigger = trigger(&format!("UPDATE ON {entries}"));
    run(&url, &trigger);
    // The claim is made again, and finds nothing while the server still ends its first transaction.
    let claims = wait(store.claim(CLAIM));
    let is_empty = claims.as_ref().map_or(true, |claims| claims.claimed.is_empty());
    assert!(is_empty, "what is not leased is not handed out: {claims:?}");
    run(&url, &format!("DROP TRIGGER t ON {entries}"));
    let claimed = claimed(&store, 2);
    run(&url, &trigger);
    for claimed in &claimed {
        let settled = wait(store.settle(claimed.lease, Outcome::Done));
        assert!(settled.is_err(), "it is not done");
    }
}

#[test]
fn a_policy_that_hides_rows_is_an_outage_and_not_the_end_of_an_entry() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    run(
        &url,
        &format!(
            "CREATE SCHEMA {schema}; DROP ROLE IF EXISTS hidden_from; CREATE ROLE hidden_from LOGIN; \
             ALTER SCHEMA {schema} OWNER TO hidden_from"
        ),
    );
    let url_of_role = url.replace("postgres@", "hidden_from@");
    let settings = PostgresSettings::new(&url_of_role).unwrap().schema(&schema).unwrap();
    let store = wait(PostgresStore::connect(settings.clone())).unwrap();
    wait(store.record(arrival("job_1", "{}"))).unwrap();
    let table = format!("ALTER TABLE {schema}.article_inbox_bodies");
    run(&url, &format!("{table} ENABLE ROW LEVEL SECURITY; {table} FORCE ROW LEVEL SECURITY"));
    says(&refused(settings), "row level security may hide rows of article_inbox_bodies");
    let error = format!("{:?}", wait(store.claim(CLAIM)).unwrap_err());
    // A connection that is opened now says it as a start does.
    let by_server = error.contains("row-level security policy for table");
    assert!(by_server || error.contains("row level security may hide rows"), "{error}");
    run(&url, &format!("{table} NO FORCE ROW LEVEL SECURITY; {table} DISABLE ROW LEVEL SECURITY"));
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
    let Some(NewStore { url, schema, store, .. }) = NewStore::shared() else { return };
    for table in ["entries", "bodies", "jobs", "intents"] {
        for column in ["place", "job_ids", "now", "new", "due", "before", "named", "key"] {
            let add = format!("ALTER TABLE {schema}.article_inbox_{table} ADD {column} bigint");
            run(&url, &add);
        }
    }
    assert_eq!(wait(store.record(arrival("job_1", "{}"))).unwrap(), Recorded::Stored);
    let claimed = wait(store.claim(CLAIM)).unwrap().claimed;
    wait(store.settle(claimed[0].lease, Outcome::Done)).unwrap();
}

#[test]
fn a_search_path_that_hides_the_functions_of_postgresql_is_refused() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    wait(PostgresStore::connect(settings)).unwrap();
    let with = |path: &str| {
        let url = format!("{url}?options=-csearch_path%3D{path}");
        PostgresSettings::new(&url).unwrap().schema(&schema).unwrap()
    };
    let error = refused(with("public,pg_catalog"));
    says(&error, "search_path names another schema before pg_catalog");
    assert!(!error.is_transient());
    wait(PostgresStore::connect(with("public"))).unwrap();
}

#[test]
fn an_empty_inbox_that_a_start_makes_beside_another_is_reported() {
    let Some(url) = shared_url() else { return };
    log::keep();
    let settings = fresh(&url);
    let schema = schema(&settings);
    let role = format!("alone_in_{schema}");
    let database = url.rsplit_once('/').unwrap().1;
    run(&url, &format!("CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE {database} TO {role}"));
    let of_role = |schema: &str| {
        let url = url.replace("postgres@", &format!("{role}@"));
        PostgresSettings::new(&url).unwrap().schema(schema).unwrap()
    };
    let store = wait(PostgresStore::connect(of_role(&schema))).unwrap();
    wait(store.record(arrival("job_1", "{}"))).unwrap();
    assert!(!log::kept().contains(&format!("the inbox in the schema \"{schema}\" is new")));

    run(&url, &format!("ALTER SCHEMA {schema} RENAME TO {schema}_gone"));
    let empty = wait(PostgresStore::connect(of_role(&schema))).unwrap();
    assert_eq!(wait(empty.counts()).unwrap().total(), 0);
    let says = format!(
        "the inbox in the schema \"{schema}\" is new and empty, and there is one in {schema}_gone: if that is the one that is meant, \
         name it with PostgresSettings::schema, or with ?schema=NAME for the tool"
    );
    assert_eq!(log::kept().matches(&says).count(), 1);
    let meant = wait(PostgresStore::connect(of_role(&format!("{schema}_gone")))).unwrap();
    assert_eq!(wait(meant.counts()).unwrap().total(), 1);
    run(&url, &format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}"));
}
