//! The statements that add entries.

/// Adds what [`record_new`](super::super::record_new) is asked for.
pub(in super::super) fn record_unknown(schema: &str, lock_millis: u32) -> String {
    format!(
        "SELECT {schema}.article_inbox_record('{schema}', {lock_millis}, $1, $2, $3, $4, $5, $6, $7, $8)"
    )
}

/// Adds the entries of a batch that are not there, with their first bodies, and returns their places in it, and whether the bodies
/// were written. It must agree
/// with [`Row::new`](article_webhook_inbox::store::Row::new). Keys that are there are left out before, and a batch is sorted, for the
/// reasons that the function `article_inbox_record` has. The articles of jobs that
/// [`JobRow::is_tombstone`](article_webhook_inbox::store::JobRow::is_tombstone) accepts are left out too, with which this must agree.
///
/// It is sent together with what begins its transaction, and so names the schema: should that be cancelled alone, it adds what it
/// would have added, and the delivery that is refused then is a duplicate when it comes again.
pub(in super::super) fn record_new(schema: &str) -> String {
    RECORD_NEW.replace("article_inbox_", &format!("{schema}.article_inbox_"))
}

const RECORD_NEW: &str = concat!(
    "WITH clock AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), \
     arrived AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], \
     $8::bytea[]) WITH ORDINALITY AS a (job_id, event, source, target, intent, digest, body, number)), \
     added AS (INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, \
     received_at, interrupted, conflicts, has_bytes) SELECT job_id, event, 'waiting', 0, 0, now, now, now, now, 0, 0, true \
     FROM arrived a, clock \
     WHERE NOT EXISTS (SELECT FROM article_inbox_entries e WHERE e.job_id = a.job_id AND e.event = a.event) \
     AND NOT (a.event = 'article.complete' AND EXISTS (SELECT FROM article_inbox_jobs j \
     WHERE j.job_id = a.job_id AND j.state IN ('arrived', 'collected'))) \
     ORDER BY number ON CONFLICT (job_id, event) DO NOTHING RETURNING id, job_id, event), \
     stored AS (INSERT INTO article_inbox_bodies (entry, slot, received_at, source, target, intent, digest, body) \
     SELECT id, 0, now, source, target, intent, digest, body FROM added JOIN arrived USING (job_id, event), clock \
     RETURNING entry) \
     SELECT number, stored.entry IS NOT NULL FROM added JOIN arrived USING (job_id, event) LEFT JOIN stored ON entry = id"
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Outside its transaction, names are looked for where the role's own setting says.
    #[test]
    fn what_may_run_outside_its_transaction_names_the_schema() {
        for statement in [record_new("\"blog\""), record_unknown("\"blog\"", 1)] {
            let named = statement.matches("\"blog\".article_inbox_").count();
            assert!(named > 0);
            assert_eq!(statement.matches("article_inbox_").count(), named);
        }
    }
}
