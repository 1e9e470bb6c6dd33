//! How PostgreSQL keeps the bodies, and how safely.

use article_webhook_inbox::store::{Arrival, Recorded, Store};

use crate::{Scene, arrival, record, scene::wait};

/// Durable acknowledgement.
#[test]
fn a_delivery_is_committed_safely_whatever_the_role_has() {
    let Some(scene) = Scene::of_role() else { return };
    // After the statement: a trigger before each row is refused.
    scene.run(
        "CREATE TABLE S.seen (setting text); \
         CREATE FUNCTION S.see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN \
         INSERT INTO S.seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$; \
         CREATE TRIGGER t AFTER INSERT ON S.article_inbox_bodies FOR EACH STATEMENT EXECUTE FUNCTION S.see()",
    );
    for (of_the_role, expected) in [
        ("off", "on"),
        ("local", "on"),
        ("remote_write", "on"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ] {
        scene.run(&format!("ALTER ROLE R SET synchronous_commit = {of_the_role}"));
        record(&scene.store(), of_the_role);
        let taken = "DELETE FROM seen RETURNING setting";
        let seen = wait(async { scene.client().await.query_one(taken, &[]).await }).unwrap();
        assert_eq!(seen.get::<_, &str>(0), expected, "{of_the_role}");
    }
}

/// Deliveries that wait at the same time share a transaction.
#[test]
fn a_value_that_cannot_be_stored_fails_no_delivery_beside_it() {
    let Some((_, store)) = Scene::opened() else { return };
    wait(async {
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
