use article_inbox::{Prune, Pruned, State, store::to_millis};
use tokio_postgres::types::Type;

use super::{ledger, rows, sql};
use crate::connection::{Transaction, Work, first};

/// Only one node prunes at a time: two would wait for each other's rows. The lock is that of these tables, whatever their
/// schema.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(hashtext('article_inbox'), 'article_inbox_meta'::regclass::oid::int)";

/// Selects bodies that [`Prune::removes_bytes`] accepts, and must agree with it. Their entries are locked, so that none is
/// requeued meanwhile.
const OLD_BODIES: &str = "SELECT e.id, b.slot FROM article_inbox_entries e \
    JOIN article_inbox_bodies b ON b.entry = e.id \
    WHERE e.state = 'done' AND e.has_bytes AND e.at < $1 AND b.received_at <= $1 AND b.body IS NOT NULL \
    ORDER BY e.at, e.id, b.slot LIMIT $2 FOR UPDATE OF e SKIP LOCKED";

const EMPTY_BODIES: &str = "UPDATE article_inbox_bodies b SET body = NULL \
    FROM unnest($1::bigint[], $2::smallint[]) AS old (entry, slot) WHERE b.entry = old.entry AND b.slot = old.slot";

/// Selects entries that [`Prune::removes_entry`] accepts, and must agree with it.
const OLD_ENTRIES: &str = concat!(
    "SELECT ",
    sql::entry!(),
    " FROM article_inbox_entries e WHERE e.state = $1 AND e.at < $2 ORDER BY e.at, e.id LIMIT $3 FOR UPDATE SKIP LOCKED"
);

/// Removes a batch of old data, as [`Store::prune`](article_inbox::store::Store::prune) says. Vacuum frees its space.
pub(crate) fn prune<'t>(tx: &'t Transaction<'t>, prune: &'t Prune) -> Work<'t, Pruned> {
    Box::pin(async move {
        let mut pruned = Pruned::default();
        if !first(&tx.query(LOCK, &[]).await?)?.try_get::<_, bool>(0)? {
            return Ok(pruned);
        }
        let limit = prune.limit as usize;
        // One more than the limit shows whether there is more to remove.
        let one_more = i64::from(prune.limit) + 1;

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

        let mut old = Vec::new();
        for (state, before) in [
            (State::Done, Some(prune.entries_before)),
            (State::Unhandled, Some(prune.entries_before)),
            (State::Dead, prune.dead_before),
        ] {
            let Some(before) = before.map(to_millis) else { continue };
            let state = state.as_str();
            let parameters = [
                (&state as _, Type::TEXT),
                (&before as _, Type::INT8),
                (&one_more as _, Type::INT8),
            ];
            for row in tx.query(OLD_ENTRIES, &parameters).await? {
                old.push(rows::stored(&row)?);
            }
        }
        old.sort_unstable_by_key(|stored| (stored.row.at, stored.id));
        pruned.more |= old.len() > limit;
        old.truncate(limit);
        for stored in &old {
            ledger::add_pruned(tx, stored).await?;
        }
        let old: Vec<_> = old.iter().map(|stored| stored.id).collect();
        if !old.is_empty() {
            rows::remove(tx, &old).await?;
            pruned.entries = u32::try_from(old.len()).unwrap_or(u32::MAX);
        }
        Ok(pruned)
    })
}
