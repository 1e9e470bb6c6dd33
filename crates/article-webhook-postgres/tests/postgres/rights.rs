//! What other roles may do.

use article_webhook_inbox::store::Store as _;
use article_webhook_postgres::PostgresStore;

use crate::{
    fresh,
    scene::{self, wait},
    schema,
    server::shared_url,
};

/// PostgreSQL 13 and 14 have it so for `public`.
#[test]
fn a_schema_in_which_every_role_may_create_functions_is_told() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    let schema = schema(&settings);
    wait(async move {
        let store = PostgresStore::connect(settings.clone()).await.unwrap();
        let reported = async |store: &PostgresStore| store.health().await.unwrap().findings;
        assert_eq!(reported(&store).await, [""; 0]);
        let program = scene::connect(&url).await;
        let grant = format!("GRANT CREATE ON SCHEMA {schema} TO PUBLIC");
        program.batch_execute(&grant).await.unwrap();
        let finding = format!("REVOKE CREATE ON SCHEMA \"{schema}\" FROM PUBLIC");
        assert!(reported(&store).await[0].contains(&finding));
        assert!(store.check().await.unwrap()[0].to_string().contains(&finding));
    });
}
