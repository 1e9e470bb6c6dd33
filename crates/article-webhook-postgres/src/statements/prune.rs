use article_webhook_inbox::{Prune, Pruned, store::to_millis};
use tokio_postgres::types::Type;

use super::{ledger, rows, sql};
use crate::connection::{Transaction, Work, first};

/// Only one node prunes at a time: two would wait for each other's rows. The lock is that of these tables, whatever their
/// schema.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(hashtext('article_inbox'), 'article_inbox_meta'::regclass::oid::int)";

/// Selects bodies that [`Prune::removes_bytes`] accepts, and must agree with it. Their entries are locked, so that none is
/// requeued meanwhile. The bodies of each are looked for by themselves (`OFFSET 0`), so that not the whole table is read.
const OLD_BODIES: &str = "SELECT e.id, b.slot FROM article_inbox_entries e CROSS JOIN LATERAL \
    (SELECT slot FROM article_inbox_bodies WHERE entry = e.id AND received_at <= $1 AND body IS NOT NULL OFFSET 0) AS b \
    WHERE e.state = 'done' AND e.has_bytes AND e.at < $1 \
    ORDER BY e.at, e.id, b.slot LIMIT $2 FOR UPDATE OF e SKIP LOCKED";

const EMPTY_BODIES: &str = "UPDATE article_inbox_bodies b SET body = NULL \
    FROM unnest($1::bigint[], $2::smallint[]) AS old (entry, slot) WHERE b.entry = old.entry AND b.slot = old.slot";

/// Selects entries that [`Prune::removes_entry`] accepts, and must agree with it. The state is no parameter, because each
/// index is of some states.
macro_rules! old_entries {
    ($state:literal) => {
        concat!(
            "SELECT e.at, e.id, e.job_id FROM article_inbox_entries e WHERE e.state = '",
            $state,
            "' AND e.at < $1 ORDER BY e.at, e.id LIMIT $2"
        )
    };
}

const LOCK_JOBS: &str =
    "SELECT FROM article_inbox_jobs WHERE job_id = ANY($1) ORDER BY job_id FOR UPDATE";

/// The same entries again. One that has changed meanwhile is not in the same state since the same time.
const LOCK_ENTRIES: &str = concat!(
    "SELECT ",
    sql::entry!(),
    " FROM article_inbox_entries e JOIN unnest($1::bigint[], $2::bigint[]) AS old (id, at) USING (id, at) \
     WHERE e.state IN ('done', 'unhandled', 'dead') FOR UPDATE OF e SKIP LOCKED"
);

/// Removes a batch of old data, as [`Store::prune`](article_webhook_inbox::store::Store::prune) says. Vacuum frees its space.
pub(crate) fn prune<'t>(tx: &'t Transaction<'t>, prune: &'t Prune) -> Work<'t, Pruned> {
    Box::pin(async move {
        let mut pruned = Pruned::default();
        if !first(&tx.query(LOCK, &[]).await?)?.try_get::<_, bool>(0)? {
            return Ok(pruned);
        }
        let limit = prune.limit as usize;
        // One more than the limit shows whether there is more to remove.
        let one_more = i64::from(prune.limit) + 1;

        let mut old = Vec::new();
        for (statement, before) in [
            (old_entries!("done"), Some(prune.entries_before)),
            (old_entries!("unhandled"), Some(prune.entries_before)),
            (old_entries!("dead"), prune.dead_before),
        ] {
            let Some(before) = before.map(to_millis) else { continue };
            let parameters = [(&before as _, Type::INT8), (&one_more as _, Type::INT8)];
            for row in tx.query(statement, &parameters).await? {
                old.push((
                    row.try_get::<_, i64>(0)?,
                    row.try_get::<_, i64>(1)?,
                    row.try_get::<_, String>(2).unwrap_or_default(),
                ));
            }
        }
        old.sort_unstable();
        pruned.more |= old.len() > limit;
        old.truncate(limit);
        let jobs: Vec<_> = old.iter().map(|(_, _, job_id)| job_id.as_str()).collect();
        tx.query(LOCK_JOBS, &[(&jobs, Type::TEXT_ARRAY)]).await?;

        let before = to_millis(prune.bodies_before);
        let found = tx.query(OLD_BODIES, &[(&before, Type::INT8), (&one_more, Type::INT8)]).await?;
        pruned.more |= found.len() > limit;
        let (mut ids, mut slots) = (Vec::new(), Vec::new());
        for row in found.iter().take(limit) {
            ids.push(row.try_get::<_, i64>(0)?);
            slots.push(row.try_get::<_, i16>(1)?);
        }
        if !ids.is_empty() {
            let parameters = [(&ids as _, Type::INT8_ARRAY), (&slots as _, Type::INT2_ARRAY)];
            tx.execute(EMPTY_BODIES, &parameters).await?;
            tx.execute(sql::COUNT_HELD, &[(&ids, Type::INT8_ARRAY)]).await?;
            pruned.bodies = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        }

        let (times, ids): (Vec<_>, Vec<_>) = old.iter().map(|(at, id, _)| (*at, *id)).unzip();
        let parameters = [(&ids as _, Type::INT8_ARRAY), (&times as _, Type::INT8_ARRAY)];
        let old = tx.query(LOCK_ENTRIES, &parameters).await?;
        let old: Vec<_> = old.iter().map(rows::stored).collect::<Result<_, _>>()?;
        ledger::add_pruned(tx, &old).await?;
        let old: Vec<_> = old.iter().map(|stored| stored.id).collect();
        if !old.is_empty() {
            rows::remove(tx, &old).await?;
            pruned.entries = u32::try_from(old.len()).unwrap_or(u32::MAX);
        }
        Ok(pruned)
    })
}
