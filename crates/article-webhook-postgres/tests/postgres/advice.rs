//! The steps that a refused start names, taken one by one. The steps that are not here are taken by the tests of the refusal: in
//! `refusals`, `rights`, `tampered`, `readiness`, `outages` and `tls`.

use article_webhook_inbox::store::{Recorded, Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    Scene, arrival, record,
    refusals::{refused, says, with_password},
    scene::wait,
    server::{Server, free_port},
};

/// A start, and a delivery, which is new or known.
#[track_caller]
fn starts(settings: PostgresSettings, recorded: Recorded) {
    assert_eq!(record(&wait(PostgresStore::connect(settings)).unwrap(), "job_1"), recorded);
}

#[test]
fn settings_that_are_refused_are_written_as_the_text_says() {
    let url = "postgresql://blog@127.0.0.1:5432/blog";
    let schema = "the schema is no plain name: begin with a lower-case letter, go on with these, digits and _, at most 63, and not \
        with pg_";
    let written = "the URL of the database is not valid: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special \
        characters of the password as %XX";
    let settings = |url: &str, schema: &str, connections: usize| {
        let settings = PostgresSettings::new(url)?.schema(schema)?;
        settings.working_connections(connections).map(drop)
    };
    let certificates = format!("{url}?sslrootcert=authority.pem");
    let of_the_tool = format!("{url}?connect_timeout=1&schema=inbox");
    for (url, schema, connections, says) in [
        (url, "Inbox", 1, schema),
        (url, "pg_inbox", 1, schema),
        (url, "inbox", 0, "a pool without connections: give it at least one"),
        (
            "postgresql://127.0.0.1/blog",
            "inbox",
            1,
            "the database has no user: name one in its URL or configuration",
        ),
        (
            &of_the_tool,
            "inbox",
            1,
            "the URL of the database has `schema`, which the tool alone reads: leave it out, and name the schema with \
             PostgresSettings::schema",
        ),
        ("postgresql://blog:a#b@127.0.0.1:5432:1/blog", "inbox", 1, written),
        (
            &certificates,
            "inbox",
            1,
            "the URL of the database names certificates and does not ask for TLS: add sslmode=verify-full",
        ),
    ] {
        assert_eq!(settings(url, schema, connections).unwrap_err().to_string(), says);
    }
    let escaped = "postgresql://blog:a%23b@127.0.0.1:5432/blog";
    for url in [url, escaped, &format!("{certificates}&sslmode=verify-full")] {
        settings(url, "i_2", 1).unwrap();
    }
}

#[test]
fn a_server_or_a_database_that_is_not_the_one_that_is_meant_is_named_or_made() {
    let Some(scene) = Scene::shared() else { return };
    let (schema, (server, _)) = (&scene.schema, scene.url.rsplit_once('/').unwrap());
    let of = |url: &str| PostgresSettings::new(url).unwrap().schema(schema).unwrap();
    let is_refused = |url: &str, says: &str, is_transient| {
        let error = refused(of(url));
        assert_eq!((error.to_string(), error.is_transient()), (says.to_owned(), is_transient));
    };
    let (host, _) = server.rsplit_once(':').unwrap();
    let elsewhere = format!("{host}:{}/postgres", free_port());
    is_refused(
        &elsewhere.replace("postgres@", "postgres:canary@"),
        "PostgreSQL cannot be reached: start it, or correct the host and the port of the URL",
        true,
    );
    starts(of(&format!("{server}/postgres")), Recorded::Stored);
    is_refused(
        &scene.url.replace("postgres@", "no_such_role:canary@"),
        "PostgreSQL refuses the connection: role \"no_such_role\" does not exist: correct the role and the password of the URL, or \
         pg_hba.conf",
        false,
    );

    let made = format!("{server}/made_{schema}");
    let says = format!(
        "PostgreSQL refuses the connection: database \"made_{schema}\" does not exist: create the database, or correct its name in \
         the URL"
    );
    is_refused(&made, &says, false);
    starts(of(&format!("{server}/postgres")), Recorded::Duplicate);
    let create = |database: String, encoding: &str| {
        let as_text = format!("ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'");
        scene.run(&format!("CREATE DATABASE {database} {as_text} TEMPLATE template0"));
    };
    create(format!("made_{schema}"), "LATIN1");
    is_refused(
        &made,
        "the database has the encoding LATIN1, which cannot hold every text: create one with ENCODING 'UTF8'",
        false,
    );
    create(format!("utf8_{schema}"), "UTF8");
    starts(of(&format!("{server}/utf8_{schema}")), Recorded::Stored);
    for name in ["made", "utf8"] {
        scene.run(&format!("DROP DATABASE {name}_{schema} WITH (FORCE)"));
    }
}

#[test]
fn a_role_gets_what_it_lacks_in_each_way_that_the_text_names() {
    for way in ["migrate", "schema", "database"] {
        let Some(scene) = Scene::of_new_role() else { return };
        if way != "database" {
            scene.run("CREATE SCHEMA S; GRANT USAGE ON SCHEMA S TO R");
        }
        says(
            &refused(scene.settings.clone().read_only()),
            "has no inbox, and this connection only reads: run `article-webhook inbox migrate`",
        );
        assert_eq!(
            refused(scene.settings.clone()).to_string(),
            scene.named(
                "the role may not create tables in the schema \"S\": as their owner, run `article-webhook inbox \
                 migrate` with `--grant` for this role; or grant it CREATE there, or on the database if the schema is to be created; or name the \
                 schema that has them"
            )
        );
        let database = scene.url.rsplit_once('/').unwrap().1;
        match way {
            "migrate" => {
                let owner = scene.settings_of("postgres", &scene.schema);
                wait(owner.migrate(Some(&scene.role))).unwrap();
            }
            "schema" => scene.run("GRANT CREATE ON SCHEMA S TO R"),
            _ => scene.run(&format!("GRANT CREATE ON DATABASE {database} TO R")),
        }
        starts(scene.settings.clone(), Recorded::Stored);
    }
}

#[test]
fn an_inbox_whose_schema_was_renamed_is_named() {
    let Some(scene) = Scene::of_role() else { return };
    starts(scene.settings.clone(), Recorded::Stored);
    let (schema, gone) = (&scene.schema, format!("{}_gone", scene.schema));
    scene.run(&format!("ALTER SCHEMA S RENAME TO {gone}"));
    assert_eq!(
        refused(scene.settings.clone()).to_string(),
        format!(
            "the schema \"{schema}\" has no inbox, and there is one in {gone}: rename its schema back, or name that with \
             PostgresSettings::schema, or with ?schema=NAME for the tool; `article-webhook inbox migrate` makes an empty inbox"
        )
    );
    starts(scene.settings_of(&scene.role, &gone), Recorded::Duplicate);
    scene.run(&format!("ALTER SCHEMA {gone} RENAME TO S"));
    starts(scene.settings.clone(), Recorded::Duplicate);
}

#[test]
fn a_password_is_given() {
    let Some(server) = Server::start(&["password_encryption = 'scram-sha-256'"]) else { return };
    with_password(&server);
    let scene = Scene::on(&server.url());
    let with = |user: &str| scene.settings_of(user, &scene.schema);
    let lacks = "PostgreSQL asks for a password, and the URL has none: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE";
    let error = refused(with("blog"));
    assert_eq!((error.to_string(), error.is_transient()), (lacks.to_owned(), false));
    let error = refused(with("blog:canary"));
    says(&error, "correct the role and the password of the URL");
    assert!(!error.is_transient());
    starts(with("blog:right"), Recorded::Stored);
}

/// PostgreSQL 13 and 14 have it so for `public`.
#[test]
fn a_schema_that_is_open_to_every_role_is_closed_by_the_statement_of_the_warning() {
    let Some((scene, store)) = Scene::opened() else { return };
    scene.run("GRANT CREATE ON SCHEMA S TO PUBLIC");
    let health = wait(store.health()).unwrap();
    let [risk] = &health.warnings[..] else { panic!("one warning: {health:?}") };
    assert!(wait(store.check()).unwrap()[0].to_string().contains(risk));
    assert_eq!(health.findings, [""; 0]);
    let (_, advice) = risk.split_once(": ").unwrap();
    let (statement, or) = advice.split_once(", or ").unwrap();
    assert_eq!(or, "name a schema of the inbox's own");
    scene.run(statement);
    assert_eq!(wait(store.health()).unwrap().warnings, [""; 0]);
}

#[test]
fn a_sequence_at_its_end_or_behind_is_set_by_the_statement_of_the_guide() {
    let guide = include_str!("../../../article-webhook/src/guide/postgres_operations.md");
    let (_, statement) = guide
        .split_once("If an error says that PostgreSQL has no number left for a new row")
        .and_then(|(_, rest)| rest.split_once("```sql\n"))
        .unwrap();
    let (statement, _) = statement.split_once("```").unwrap();
    let Some(scene) = Scene::shared() else { return };
    starts(scene.settings.clone(), Recorded::Stored);
    let says = "PostgreSQL has no number left for a new row: article_inbox_ids is at its end: set the sequence to the largest id in the \
        tables, by the statement on the guide's page postgres_operations";
    // With an entry, and without one.
    let set = || wait(async { scene.client().await.batch_execute(statement).await }).unwrap();
    for recorded in [Recorded::Duplicate, Recorded::Stored] {
        scene.run("SELECT setval('S.article_inbox_ids', 9223372036854775807)");
        assert_eq!(refused(scene.settings.clone()).to_string(), says);
        set();
        starts(scene.settings.clone(), recorded);
        scene.run("TRUNCATE S.article_inbox_entries, S.article_inbox_bodies");
    }
    // As after a dump that was restored without the sequence.
    let store = scene.store();
    record(&store, "job_1");
    scene.run("SELECT setval('S.article_inbox_ids', id, false) FROM S.article_inbox_entries");
    let says = wait(store.record(arrival("job_2", "{}"))).unwrap_err().to_string();
    assert!(
        says.starts_with("PostgreSQL gives a new row a number that another row has: "),
        "{says}"
    );
    set();
    assert_eq!(record(&store, "job_2"), Recorded::Stored);
}
