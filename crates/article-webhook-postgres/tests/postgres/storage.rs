//! How PostgreSQL keeps the bodies, and how safely.

use article_webhook_inbox::store::{Arrival, Recorded, Store};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio_postgres::error::SqlState;

use crate::{
    arrival, fresh,
    refusals::run,
    role_of_new_tables,
    scene::{self, wait},
    server::shared_url,
};

#[test]
fn bodies_are_compressed_by_lz4_or_not_at_all() {
    let Some(url) = shared_url() else { return };
    let schema = scene::fresh_schema();
    let settings = PostgresSettings::new(&url).unwrap().schema(&schema).unwrap();
    wait(async move {
        let store = PostgresStore::connect(settings).await.unwrap();
        store.record(arrival("job_1", &"an article ".repeat(2000))).await.unwrap();
        let client = scene::connect(&url).await;
        let lz4 = "SELECT EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals))";
        let expected = client.query_one(lz4, &[]).await.unwrap().get::<_, bool>(0).then_some("lz4");
        // Version 13 has no such function, and bodies are stored as they are.
        let compression =
            format!("SELECT pg_column_compression(body) FROM {schema}.article_inbox_bodies");
        let found = match client.query_one(&compression, &[]).await {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => return,
            found => found.unwrap(),
        };
        assert_eq!(found.get::<_, Option<&str>>(0), expected);
    });
}

/// Durable acknowledgement.
#[test]
fn a_delivery_is_committed_safely_whatever_the_role_has() {
    let Some(url) = shared_url() else { return };
    let (schema, role, settings) = role_of_new_tables(&url);
    // After the statement: a trigger before each row is refused.
    run(
        &url,
        &format!(
            "CREATE TABLE {schema}.seen (setting text); \
             CREATE FUNCTION {schema}.see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN \
             INSERT INTO {schema}.seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$; \
             CREATE TRIGGER t AFTER INSERT ON {schema}.article_inbox_bodies FOR EACH STATEMENT EXECUTE FUNCTION {schema}.see()"
        ),
    );
    for (of_the_role, expected) in [
        ("off", "on"),
        ("local", "on"),
        ("remote_write", "on"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ] {
        run(&url, &format!("ALTER ROLE {role} SET synchronous_commit = {of_the_role}"));
        let settings = settings.clone();
        wait(async {
            let store = PostgresStore::connect(settings).await.unwrap();
            store.record(arrival(of_the_role, "{}")).await.unwrap();
            let taken = format!("DELETE FROM {schema}.seen RETURNING setting");
            let seen = scene::connect(&url).await.query_one(&taken, &[]).await.unwrap();
            assert_eq!(seen.get::<_, &str>(0), expected, "{of_the_role}");
        });
    }
}

/// Deliveries that wait at the same time share a transaction.
#[test]
fn a_value_that_cannot_be_stored_fails_no_delivery_beside_it() {
    let Some(url) = shared_url() else { return };
    wait(async {
        let store = PostgresStore::connect(fresh(&url)).await.unwrap();
        let unfit = Arrival { target: "a\0b".into(), ..arrival("job_2", "{}") };
        let (before, unfit, after) = tokio::join!(
            store.record(arrival("job_1", "{}")),
            store.record(unfit),
            store.record(arrival("job_3", "{}"))
        );
        let error = unfit.unwrap_err();
        assert_eq!(error.to_string(), "PostgreSQL cannot store a value (SQLSTATE 22021)");
        assert_eq!([before.unwrap(), after.unwrap()], [Recorded::Stored; 2]);
    });
}
