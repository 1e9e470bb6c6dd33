//! The steps that a refused start names, taken one by one. The steps that are not here are taken by the tests of the refusal: in
//! `refusals`, `rights`, `tampered`, `readiness`, `outages` and `tls`.

use std::fs;

use article_webhook_inbox::store::{Recorded, Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    CLAIM, NewStore, arrival, fresh,
    refusals::{refused, run, says, with_password},
    role_of_new_tables,
    scene::{self, wait},
    schema,
    server::{Server, free_port, shared_url},
};

/// A start, and a delivery, which is new or known.
#[track_caller]
fn starts(settings: PostgresSettings, recorded: Recorded) {
    wait(async {
        let store = PostgresStore::connect(settings).await.unwrap();
        assert_eq!(store.record(arrival("job_1", "{}")).await.unwrap(), recorded);
    });
}

fn of(url: &str, schema: &str) -> PostgresSettings {
    PostgresSettings::new(url).unwrap().schema(schema).unwrap()
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
    let verified = format!("{certificates}&sslmode=verify-full");
    for (wrong, says, right) in [
        ((url, "Inbox", 1), schema, (url, "i_2", 1)),
        ((url, "pg_inbox", 1), schema, (url, "inbox", 1)),
        ((url, "inbox", 0), "a pool without connections: give it at least one", (url, "inbox", 1)),
        (
            ("postgresql://127.0.0.1/blog", "inbox", 1),
            "the database has no user: name one in its URL or configuration",
            (url, "inbox", 1),
        ),
        (
            (&of_the_tool, "inbox", 1),
            "the URL of the database has `schema`, which the tool alone reads: leave it out, and name the schema with \
             PostgresSettings::schema",
            (url, "inbox", 1),
        ),
        (
            ("postgresql://blog:a#b@127.0.0.1:5432:1/blog", "inbox", 1),
            written,
            ("postgresql://blog:a%23b@127.0.0.1:5432/blog", "inbox", 1),
        ),
        (
            (&certificates, "inbox", 1),
            "the URL of the database names certificates and does not ask for TLS: add sslmode=verify-full",
            (&verified, "inbox", 1),
        ),
    ] {
        assert_eq!(settings(wrong.0, wrong.1, wrong.2).unwrap_err().to_string(), says);
        settings(right.0, right.1, right.2).unwrap();
    }
}

#[test]
fn a_server_or_a_database_that_is_not_the_one_that_is_meant_is_named_or_made() {
    let Some(url) = shared_url() else { return };
    let (server, _) = url.rsplit_once('/').unwrap();
    let schema = scene::fresh_schema();
    let is_refused = |url: &str, says: &str, is_transient| {
        let error = refused(of(url, &schema));
        assert_eq!((error.to_string(), error.is_transient()), (says.to_owned(), is_transient));
    };
    let (host, _) = server.rsplit_once(':').unwrap();
    let elsewhere = format!("{host}:{}/postgres", free_port());
    is_refused(
        &elsewhere.replace("postgres@", "postgres:canary@"),
        "PostgreSQL cannot be reached: start it, or correct the host and the port of the URL",
        true,
    );
    starts(of(&format!("{server}/postgres"), &schema), Recorded::Stored);
    is_refused(
        &url.replace("postgres@", "no_such_role:canary@"),
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
    starts(of(&format!("{server}/postgres"), &schema), Recorded::Duplicate);
    let create = |name: &str, encoding: &str| {
        run(
            &url,
            &format!(
                "CREATE DATABASE {name}_{schema} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
            ),
        );
    };
    create("made", "LATIN1");
    is_refused(
        &made,
        "the database has the encoding LATIN1, which cannot hold every text: create one with ENCODING 'UTF8'",
        false,
    );
    create("utf8", "UTF8");
    starts(of(&format!("{server}/utf8_{schema}"), &schema), Recorded::Stored);
    for name in ["made", "utf8"] {
        run(&url, &format!("DROP DATABASE {name}_{schema} WITH (FORCE)"));
    }
}

#[test]
fn a_role_gets_what_it_lacks_in_each_way_that_the_text_names() {
    let Some(url) = shared_url() else { return };
    let database = url.rsplit_once('/').unwrap().1;
    for way in ["migrate", "schema", "database"] {
        let schema = scene::fresh_schema();
        let role = format!("role_of_{schema}");
        run(&url, &format!("CREATE ROLE {role} LOGIN"));
        if way != "database" {
            run(&url, &format!("CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO {role}"));
        }
        let settings = of(&url.replace("postgres@", &format!("{role}@")), &schema);
        says(
            &refused(settings.clone().read_only()),
            "has no inbox, and this connection only reads: run `article-webhook inbox migrate`",
        );
        assert_eq!(
            refused(settings.clone()).to_string(),
            format!(
                "the role may not create tables in the schema \"{schema}\": as their owner, run `article-webhook inbox \
                 migrate` with `--grant` for this role; or grant it CREATE there, or on the database if the schema is to be created; or name the \
                 schema that has them"
            )
        );
        match way {
            "migrate" => wait(of(&url, &schema).migrate(Some(&role))).unwrap(),
            "schema" => run(&url, &format!("GRANT CREATE ON SCHEMA {schema} TO {role}")),
            _ => run(&url, &format!("GRANT CREATE ON DATABASE {database} TO {role}")),
        }
        starts(settings, Recorded::Stored);
        run(&url, &format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}"));
    }
}

#[test]
fn an_inbox_whose_schema_was_renamed_is_named() {
    let Some(url) = shared_url() else { return };
    let (schema, role, settings) = role_of_new_tables(&url);
    starts(settings.clone(), Recorded::Stored);
    run(&url, &format!("ALTER SCHEMA {schema} RENAME TO {schema}_gone"));
    assert_eq!(
        refused(settings.clone()).to_string(),
        format!(
            "the schema \"{schema}\" has no inbox, and there is one in {schema}_gone: rename its schema back, or name that with \
             PostgresSettings::schema, or with ?schema=NAME for the tool; `article-webhook inbox migrate` makes an empty inbox"
        )
    );
    starts(settings.clone().schema(&format!("{schema}_gone")).unwrap(), Recorded::Duplicate);
    run(&url, &format!("ALTER SCHEMA {schema}_gone RENAME TO {schema}"));
    starts(settings, Recorded::Duplicate);
    run(&url, &format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn what_may_lose_rows_is_changed_in_the_other_way_that_the_text_names() {
    let Some(url) = shared_url() else { return };
    let (schema, role, settings) = role_of_new_tables(&url);
    starts(settings.clone(), Recorded::Stored);
    let bodies = format!("{schema}.article_inbox_bodies");
    run(
        &url,
        &format!(
            "CREATE FUNCTION {schema}.audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; \
             CREATE TRIGGER audit BEFORE INSERT ON {bodies} FOR EACH ROW EXECUTE FUNCTION {schema}.audit()"
        ),
    );
    assert_eq!(
        refused(settings.clone()).to_string(),
        "the trigger audit may skip or change rows of article_inbox_bodies: drop it, or run it AFTER"
    );
    run(
        &url,
        &format!(
            "DROP TRIGGER audit ON {bodies}; \
             CREATE TRIGGER audit AFTER INSERT ON {bodies} FOR EACH ROW EXECUTE FUNCTION {schema}.audit()"
        ),
    );
    starts(settings.clone(), Recorded::Duplicate);

    run(&url, &format!("ALTER TABLE {bodies} ENABLE ROW LEVEL SECURITY"));
    assert_eq!(
        refused(settings.clone()).to_string(),
        "row level security may hide rows of article_inbox_bodies: disable it, or give the role BYPASSRLS"
    );
    run(&url, &format!("ALTER ROLE {role} BYPASSRLS"));
    starts(settings, Recorded::Duplicate);
    run(&url, &format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn tables_without_a_version_get_it_back_or_are_left_to_themselves() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    starts(settings.clone(), Recorded::Stored);
    let meta = format!("{schema}.article_inbox_meta");
    run(&url, &format!("CREATE TABLE {schema}.backup AS TABLE {meta}; DELETE FROM {meta}"));
    let says = refused(settings.clone()).to_string();
    assert!(
        says.ends_with(
            ": if they are of an inbox, restore article_inbox_meta from the same backup, because they may hold articles; if not, name \
             another schema"
        ),
        "{says}"
    );
    starts(fresh(&url), Recorded::Stored);
    run(&url, &format!("INSERT INTO {meta} TABLE {schema}.backup"));
    starts(settings, Recorded::Duplicate);
}

#[test]
fn a_password_or_a_connection_more_is_given() {
    let Some(server) = Server::start(&["password_encryption = 'scram-sha-256'"]) else { return };
    with_password(&server);
    let schema = scene::fresh_schema();
    let with = |user: &str| of(&server.url().replace("postgres@", user), &schema);
    let lacks = "PostgreSQL asks for a password, and the URL has none: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE";
    let error = refused(with("blog@"));
    assert_eq!((error.to_string(), error.is_transient()), (lacks.to_owned(), false));
    let error = refused(with("blog:canary@"));
    says(&error, "correct the role and the password of the URL");
    assert!(!error.is_transient());
    starts(with("blog:right@"), Recorded::Stored);

    run(&server.url(), "ALTER ROLE blog CONNECTION LIMIT 0");
    assert_eq!(
        refused(with("blog:right@")).to_string(),
        "PostgreSQL refuses the connection: too many connections for role \"blog\": raise max_connections, or the limit of the role \
         or the database, or make the pools smaller"
    );
    run(&server.url(), "ALTER ROLE blog CONNECTION LIMIT -1");
    starts(with("blog:right@"), Recorded::Duplicate);
}

/// PostgreSQL 13 and 14 have it so for `public`.
#[test]
fn a_schema_that_is_open_to_every_role_is_closed_by_the_statement_of_the_warning() {
    let Some(NewStore { url, schema, store, .. }) = NewStore::shared() else { return };
    run(&url, &format!("GRANT CREATE ON SCHEMA {schema} TO PUBLIC"));
    let health = wait(store.health()).unwrap();
    let [risk] = &health.warnings[..] else { panic!("one warning: {health:?}") };
    assert!(wait(store.check()).unwrap()[0].to_string().contains(risk));
    assert_eq!(health.findings, [""; 0]);
    let (_, advice) = risk.split_once(": ").unwrap();
    let (statement, or) = advice.split_once(", or ").unwrap();
    assert_eq!(or, "name a schema of the inbox's own");
    run(&url, statement);
    assert_eq!(wait(store.health()).unwrap().warnings, [""; 0]);
}

#[test]
fn a_page_that_cannot_be_read_is_restored_from_a_backup() {
    let Some(mut server) = Server::start(&["autovacuum = off"]) else { return };
    let settings = fresh(&server.url());
    let bodies =
        format!("SELECT pg_relation_filepath('{}.article_inbox_bodies')", schema(&settings));
    let store = || wait(PostgresStore::connect(settings.clone())).unwrap();
    starts(settings.clone(), Recorded::Stored);
    let path: String = wait(async {
        let client = scene::connect(&server.url()).await;
        client.batch_execute("CHECKPOINT").await.unwrap();
        client.query_one(&bodies, &[]).await.unwrap().get(0)
    });
    server.crash();
    let file = server.folder().join("data").join(path);
    let backup = fs::read(&file).unwrap();
    fs::write(&file, vec![0xff; backup.len()]).unwrap();
    server.start_again();
    let error = wait(store().claim(CLAIM)).unwrap_err();
    let says = "PostgreSQL cannot read what it has stored: restore the server from a backup, or fail over to a standby (SQLSTATE XX001)";
    assert_eq!(error.to_string(), says);

    server.crash();
    fs::write(&file, backup).unwrap();
    server.start_again();
    let claims = wait(store().claim(CLAIM)).unwrap();
    assert_eq!(claims.claimed[0].bodies[0].bytes.as_deref(), Some(&b"{}"[..]));
}

#[test]
fn a_sequence_at_its_end_is_set_by_the_statement_of_the_guide() {
    let Some(url) = shared_url() else { return };
    let guide = include_str!("../../../article-webhook/src/guide/postgres_operations.md");
    let (_, statement) = guide
        .split_once("If an error says that PostgreSQL has no number left for a new row")
        .unwrap();
    let (_, statement) = statement.split_once("```sql\n").unwrap();
    let (statement, _) = statement.split_once("```").unwrap();
    let settings = fresh(&url);
    let schema = schema(&settings);
    let end = format!("SELECT setval('{schema}.article_inbox_ids', 9223372036854775807)");
    let follow = format!("SET search_path = {schema}; {statement}");
    starts(settings.clone(), Recorded::Stored);
    let says = "PostgreSQL has no number left for a new row: article_inbox_ids is at its end: set the sequence to the largest id in the \
        tables, by the statement on the guide's page postgres_operations";
    // With an entry, and without one.
    for recorded in [Recorded::Duplicate, Recorded::Stored] {
        run(&url, &end);
        assert_eq!(refused(settings.clone()).to_string(), says);
        run(&url, &follow);
        starts(settings.clone(), recorded);
        run(
            &url,
            &format!("TRUNCATE {schema}.article_inbox_entries, {schema}.article_inbox_bodies"),
        );
    }
}
