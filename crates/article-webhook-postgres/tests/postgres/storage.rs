//! How PostgreSQL keeps the bodies.

use article_webhook_inbox::store::Store;
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::{
    arrival,
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
        let version = "SELECT current_setting('server_version_num')::int";
        let version: i32 = client.query_one(version, &[]).await.unwrap().get(0);
        let lz4 = "SELECT EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals))";
        let expected = match client.query_one(lz4, &[]).await.unwrap().get(0) {
            true => Some("lz4"),
            false => None,
        };
        // Before version 14 there is no function that shows it, and bodies are stored as they are.
        let compression = match version {
            140_000.. => {
                format!("SELECT pg_column_compression(body) FROM {schema}.article_inbox_bodies")
            }
            _ => format!(
                "SELECT CASE WHEN pg_column_size(body) < length(body) THEN 'pglz' END FROM {schema}.article_inbox_bodies"
            ),
        };
        let found = client.query_one(&compression, &[]).await.unwrap();
        assert_eq!(found.get::<_, Option<&str>>(0), expected);
    });
}
