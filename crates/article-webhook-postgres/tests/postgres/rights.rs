//! What roles may do: an owner makes the tables, and the role of receivers and workers has what these need. The contract is run by
//! such a role.

use article_webhook_inbox::store::{Recorded, Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    arrival,
    refusals::{refused, run},
    scene::{self, wait},
    schema,
    server::shared_url,
};

/// An owner and an application, and the settings of each.
fn two_roles(url: &str) -> [(String, PostgresSettings); 2] {
    let schema = scene::fresh_schema();
    let database = url.rsplit_once('/').unwrap().1;
    let [owner, application] = ["owner", "application"].map(|kind| format!("{kind}_of_{schema}"));
    run(
        url,
        &format!(
            "CREATE ROLE {owner} LOGIN; CREATE ROLE {application} LOGIN; \
             GRANT CREATE ON DATABASE {database} TO {owner}"
        ),
    );
    [owner, application].map(|role| {
        let url = url.replace("postgres@", &format!("{role}@"));
        (role, PostgresSettings::new(&url).unwrap().schema(&schema).unwrap())
    })
}

/// The statements of SQL that grant something.
fn grants(sql: &str) -> Vec<&str> {
    sql.lines().filter(|line| line.starts_with("GRANT ")).collect()
}

#[test]
fn an_owner_migrates_and_an_application_needs_no_right_to_create() {
    let Some(url) = shared_url() else { return };
    let [(_, owner), (role, application)] = two_roles(&url);
    let schema = schema(&application);
    let error = refused(application.clone());
    let expected = format!(
        "the role may not create tables in the schema \"{schema}\": as their owner, run `article-webhook inbox migrate` with `--grant`"
    );
    assert!(error.to_string().starts_with(&expected), "{error}");

    wait(owner.migrate(None)).unwrap();
    let all = grants(&owner.migration_sql(Some(&role))).join(" ").replace(";", "");
    let expected = format!("the role \"{role}\" lacks rights: as the owner of the tables, {all}");
    assert_eq!(refused(application.clone()).to_string().replace(';', ""), expected);

    wait(owner.migrate(Some(&role))).unwrap();
    wait(owner.migrate(Some(&role))).unwrap();
    let store = wait(PostgresStore::connect(application)).unwrap();
    assert_eq!(wait(store.record(arrival("job_1", "{}"))).unwrap(), Recorded::Stored);
    wait(store.probe()).unwrap();
    assert_eq!(wait(store.health()).unwrap().findings, [""; 0]);
    let error = wait(owner.migrate(Some("no_such_role"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the role \"no_such_role\" does not exist: create it, or correct its name, which is that of --grant"
    );
}

#[test]
fn each_right_that_is_missing_is_named_by_a_start_and_by_health() {
    let Some(url) = shared_url() else { return };
    let [(_, owner), (role, application)] = two_roles(&url);
    let sql = owner.migration_sql(Some(&role));
    run(&url, &sql);
    let store = wait(PostgresStore::connect(application.clone())).unwrap();
    assert_eq!(wait(store.record(arrival("job_1", "{}"))).unwrap(), Recorded::Stored);
    wait(store.probe()).unwrap();
    let (mut revoked, lacks) =
        (0, format!("the role \"{role}\" lacks rights: as the owner of the tables, "));
    for grant in grants(&sql) {
        let (rights, of) =
            grant.strip_prefix("GRANT ").unwrap().trim_end_matches(';').split_once(" ON ").unwrap();
        for right in rights.split(", ") {
            run(&url, &format!("REVOKE {right} ON {}", of.replace(" TO ", " FROM ")));
            let grant = format!("GRANT {right} ON {of}");
            let expected = format!("{lacks}{grant}");
            assert_eq!(refused(application.clone()).to_string(), expected);
            let findings = wait(store.health()).unwrap().findings;
            assert!(findings.contains(&expected), "{findings:?}");
            run(&url, &grant);
            wait(PostgresStore::connect(application.clone())).unwrap();
            revoked += 1;
        }
    }
    assert_eq!(revoked, 22);
}

#[test]
fn an_inbox_that_is_opened_to_be_read_changes_nothing() {
    let Some(url) = shared_url() else { return };
    let [(_, owner), (role, application)] = two_roles(&url);
    wait(owner.migrate(None)).unwrap();
    let store = wait(PostgresStore::connect(owner)).unwrap();
    wait(store.record(arrival("job_1", "{}"))).unwrap();
    let settings = application.read_only();
    let lacks = refused(settings.clone()).to_string();
    let (_, grants) = lacks.split_once("as the owner of the tables, ").unwrap();
    assert!(!grants.contains("INSERT") && !grants.contains("SEQUENCE"), "{grants}");
    // A role that is meant to read has this setting, and so has a standby in its way.
    run(&url, &format!("{grants}; ALTER ROLE {role} SET default_transaction_read_only = on"));

    let reader = wait(PostgresStore::connect(settings)).unwrap();
    assert_eq!(wait(reader.counts()).unwrap().total(), 1);
    assert_eq!(wait(reader.health()).unwrap().findings, [""; 0]);
    assert!(wait(reader.check()).unwrap().is_empty());
    let says = "this inbox is opened to be read alone: open it without PostgresSettings::read_only";
    for refused in [
        wait(reader.record(arrival("job_2", "{}"))).map(drop),
        wait(reader.claim(crate::CLAIM)).map(drop),
        wait(reader.pause("ops@db1".into())),
        wait(reader.probe()),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), says);
    }
    assert_eq!(wait(store.record(arrival("job_2", "{}"))).unwrap(), Recorded::Stored);
}

#[test]
fn the_guide_shows_the_rights_that_are_checked() {
    let guide = include_str!("../../../article-webhook/src/guide/postgres.md");
    let settings = PostgresSettings::new("postgresql://owner@db.example/blog").unwrap();
    let sql = settings.schema("inbox").unwrap().migration_sql(Some("blog"));
    assert!(guide.contains(&grants(&sql).join("\n")), "{sql}");
}
