use tokio_postgres::Client;

/// Adds that many done entries with bodies that retention has emptied, as they are after some weeks, and brings the server's
/// statistics up to date. They are of the last hours, so that retention does not remove them during the measurement.
pub(crate) async fn done(client: &Client, schema: &str, count: i64) {
    let fill = format!(
        "SET synchronous_commit = off; \
         INSERT INTO {schema}.article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, \
         held, target, document, checksum) \
         SELECT 'job_' || lpad(to_hex(n * (1152921504606846976 / ({count} + 1))), 15, '0'), 'article.complete', 'done', 1, 1, \
         start + n, 0, start + n, start + n, 0, 'blog', '{{}}', 0 FROM generate_series(1::bigint, {count}) n, \
         (SELECT floor(extract(epoch FROM now()) * 1000)::bigint - {count} AS start) clock; \
         INSERT INTO {schema}.article_inbox_bodies (entry, slot, received_at, digest, document, checksum) \
         SELECT id, 0, received_at, sha256(job_id::bytea), '', 0 FROM {schema}.article_inbox_entries; \
         SET synchronous_commit = on"
    );
    client.batch_execute(&fill).await.unwrap();
    for table in ["entries", "bodies"] {
        let vacuum = format!("VACUUM (ANALYZE) {schema}.article_inbox_{table}");
        client.batch_execute(&vacuum).await.unwrap();
    }
    // Vacuum has written to every page. A checkpoint writes them to disk, and would do it during the measurement.
    client.batch_execute("CHECKPOINT").await.unwrap();
}
