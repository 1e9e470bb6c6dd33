use std::time::SystemTime;

use article_webhook::JobId;
use article_webhook_inbox::{
    Body, Entry, EntryKey, State,
    store::{Row, from_millis, to_millis},
};
use tokio_postgres::types::Type;

use super::{
    ledger,
    rows::{self, StoredRow},
};
use crate::connection::{Transaction, Work, first};

/// An entry that another store exported, with its bodies.
pub(crate) type Imported = (Entry, Vec<Body>);

/// Requeues an entry, as [`Store::requeue`](article_webhook_inbox::store::Store::requeue) says.
pub(crate) fn requeue<'t>(
    tx: &'t Transaction<'t>,
    (key, from): &'t (EntryKey, Option<State>),
) -> Work<'t, bool> {
    Box::pin(async move {
        ledger::lock_of(tx, key).await?;
        let Some(mut stored) = rows::lock_key(tx, key).await? else { return Ok(false) };
        let held =
            "SELECT count(*) FROM article_inbox_bodies WHERE entry = $1 AND body IS NOT NULL";
        let held = tx.query(held, &[(&stored.id, Type::INT8)]).await?;
        let held = usize::try_from(first(&held)?.try_get::<_, i64>(0)?).unwrap_or_default();
        let requeued = stored.row.requeue(*from, held, tx.now().await?);
        if requeued {
            rows::save(tx, &stored).await?;
            ledger::sync_with_entry(tx, &stored).await?;
        }
        Ok(requeued)
    })
}

/// Makes a waiting, unhandled or corrupt entry dead.
pub(crate) fn bury<'t>(
    tx: &'t Transaction<'t>,
    (key, cause): &'t (EntryKey, String),
) -> Work<'t, bool> {
    Box::pin(async move {
        ledger::lock_of(tx, key).await?;
        let Some(mut stored) = rows::lock_key(tx, key).await? else { return Ok(false) };
        let buried = stored.row.bury(cause.as_str(), tx.now().await?);
        if buried {
            rows::save(tx, &stored).await?;
            ledger::sync_with_entry(tx, &stored).await?;
        }
        Ok(buried)
    })
}

/// Pauses claims.
pub(crate) fn pause<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, ()> {
    Box::pin(async move {
        let pause = "UPDATE article_inbox_meta SET value = $1 WHERE name = 'paused' AND value = 0";
        let since = to_millis(tx.now().await?);
        tx.execute(pause, &[(&since as _, Type::INT8)]).await.map(drop)
    })
}

/// Ends a pause.
pub(crate) fn resume<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, ()> {
    Box::pin(async move {
        let resume = "UPDATE article_inbox_meta SET value = 0 WHERE name = 'paused'";
        tx.execute(resume, &[]).await.map(drop)
    })
}

/// Since when claims are paused, if they are.
pub(crate) fn paused_since<'t>(
    tx: &'t Transaction<'t>,
    (): &'t (),
) -> Work<'t, Option<SystemTime>> {
    Box::pin(async move {
        let paused = "SELECT value FROM article_inbox_meta WHERE name = 'paused' AND value <> 0";
        let since = tx.query(paused, &[]).await?;
        let since = since.first().map(|row| row.try_get(0)).transpose()?;
        Ok(since.map(from_millis))
    })
}

/// Removes everything about a job, and returns how many entries there were.
pub(crate) fn forget<'t>(tx: &'t Transaction<'t>, job_id: &'t JobId) -> Work<'t, u64> {
    Box::pin(async move {
        let lock = "SELECT id FROM article_inbox_entries WHERE job_id = $1 ORDER BY id FOR UPDATE";
        let job = [(&job_id.as_str() as _, Type::TEXT)];
        ledger::lock_of(tx, &EntryKey::article(job_id.clone())).await?;
        // A statement does not see the bodies that another transaction stores while it waits for the entry.
        let rows = tx.query(lock, &job).await?;
        let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
        rows::remove(tx, &ids).await?;
        ledger::forget(tx, job_id).await?;
        Ok(ids.len() as u64)
    })
}

/// Adds an entry that another store exported, as [`Store::import`](article_webhook_inbox::store::Store::import) says.
pub(crate) fn import<'t>(tx: &'t Transaction<'t>, (entry, bodies): &'t Imported) -> Work<'t, bool> {
    Box::pin(async move {
        let held = bodies.iter().filter(|body| body.bytes.is_some()).count();
        ledger::lock_of(tx, &entry.key).await?;
        if ledger::is_tombstone(tx, &entry.key).await? {
            return Ok(false);
        }
        let row = Row::import(entry, tx.now().await?);
        let Some(id) = rows::add(tx, &entry.key, entry.received_at, held, &row).await? else {
            return Ok(false);
        };
        for (slot, body) in (0..).zip(bodies) {
            rows::put_body(tx, id, slot, body).await?;
        }
        let (key, received_at) = (entry.key.clone(), entry.received_at);
        ledger::sync_with_entry(tx, &StoredRow { id, key, received_at, row, damage: None }).await?;
        Ok(true)
    })
}
