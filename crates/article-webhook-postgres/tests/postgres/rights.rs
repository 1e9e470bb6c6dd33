//! What roles may do: an owner makes the tables, and the role of receivers and workers has what these need. The contract is run by
//! such a role.

use article_webhook_inbox::store::{Recorded, Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    CLAIM, Scene, arrival, record,
    refusals::{refused, run},
    scene::wait,
};

/// The statements of SQL that grant something.
fn grants(sql: &str) -> Vec<&str> {
    sql.lines().filter(|line| line.starts_with("GRANT ")).collect()
}

#[test]
fn an_owner_migrates_and_an_application_needs_no_right_to_create() {
    let Some(owner) = Scene::of_new_role() else { return };
    let Some(application) = Scene::of_new_role() else { return };
    let (role, database) = (&application.role, owner.url.rsplit_once('/').unwrap().1);
    owner.run(&format!("GRANT CREATE ON DATABASE {database} TO R"));
    let settings = owner.settings_of(role, &owner.schema);

    wait(owner.settings.migrate(None)).unwrap();
    let all = grants(&owner.settings.migration_sql(Some(role))).join(" ").replace(';', "");
    let expected = format!("the role \"{role}\" lacks rights: as the owner of the tables, {all}");
    assert_eq!(refused(settings.clone()).to_string().replace(';', ""), expected);

    wait(owner.settings.migrate(Some(role))).unwrap();
    wait(owner.settings.migrate(Some(role))).unwrap();
    let store = wait(PostgresStore::connect(settings)).unwrap();
    assert_eq!(record(&store, "job_1"), Recorded::Stored);
    wait(store.probe()).unwrap();
    assert_eq!(wait(store.health()).unwrap().findings, [""; 0]);
    let error = wait(owner.settings.migrate(Some("no_such_role"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the role \"no_such_role\" does not exist: create it, or correct its name, which is that of --grant"
    );
}

#[test]
fn each_right_that_is_missing_is_named_by_a_start_and_by_health() {
    let Some(scene) = Scene::of_new_role() else { return };
    let sql = scene.settings.migration_sql(Some(&scene.role));
    run(&scene.url, &sql);
    let store = scene.store();
    assert_eq!(record(&store, "job_1"), Recorded::Stored);
    wait(store.probe()).unwrap();
    let lacks = scene.named("the role \"R\" lacks rights: as the owner of the tables, ");
    let mut revoked = 0;
    for grant in grants(&sql) {
        let (rights, of) =
            grant.strip_prefix("GRANT ").unwrap().trim_end_matches(';').split_once(" ON ").unwrap();
        for right in rights.split(", ") {
            scene.run(&format!("REVOKE {right} ON {}", of.replace(" TO ", " FROM ")));
            let grant = format!("GRANT {right} ON {of}");
            let expected = format!("{lacks}{grant}");
            assert_eq!(refused(scene.settings.clone()).to_string(), expected);
            let findings = wait(store.health()).unwrap().findings;
            assert!(findings.contains(&expected), "{findings:?}");
            scene.run(&grant);
            scene.store();
            revoked += 1;
        }
    }
    assert_eq!(revoked, 22);
}

#[test]
fn an_inbox_that_is_opened_to_be_read_changes_nothing() {
    let Some(scene) = Scene::of_new_role() else { return };
    let owner = scene.settings_of("postgres", &scene.schema);
    let store = wait(PostgresStore::connect(owner)).unwrap();
    record(&store, "job_1");
    let scene = scene.with(PostgresSettings::read_only);
    let lacks = refused(scene.settings.clone()).to_string();
    let (_, grants) = lacks.split_once("as the owner of the tables, ").unwrap();
    assert!(!grants.contains("INSERT") && !grants.contains("SEQUENCE"), "{grants}");
    // A role that is meant to read has this setting, and so has a standby in its way.
    scene.run(&format!("{grants}; ALTER ROLE R SET default_transaction_read_only = on"));

    let reader = scene.store();
    assert_eq!(wait(reader.counts()).unwrap().total(), 1);
    assert_eq!(wait(reader.health()).unwrap().findings, [""; 0]);
    assert!(wait(reader.check()).unwrap().is_empty());
    let says = "this inbox is opened to be read alone: open it without PostgresSettings::read_only";
    for refused in [
        wait(reader.record(arrival("job_2", "{}"))).map(drop),
        wait(reader.claim(CLAIM)).map(drop),
        wait(reader.pause("ops@db1".into())),
        wait(reader.probe()),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), says);
    }
    assert_eq!(record(&store, "job_2"), Recorded::Stored);
}

#[test]
fn the_guide_shows_the_rights_that_are_checked() {
    let guide = include_str!("../../../article-webhook/src/guide/postgres.md");
    let settings = PostgresSettings::new("postgresql://owner@db.example/blog").unwrap();
    let sql = settings.schema("inbox").unwrap().migration_sql(Some("blog"));
    assert!(guide.contains(&grants(&sql).join("\n")), "{sql}");
}
