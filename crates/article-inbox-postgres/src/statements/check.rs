mod bodies;
mod isolate;
mod scan;

use article_inbox::Finding;

pub(crate) use self::isolate::{Damaged, isolate};
use self::{bodies::damaged_bodies, scan::damaged_rows};
use super::sql;
use crate::{
    connection::{Transaction, Work},
    schema,
};

/// Bodies without an entry, and entries that seem to have bytes and have none.
const LOST: &str = "SELECT 'a body has no entry: ' || b.entry FROM article_inbox_bodies b \
    WHERE NOT EXISTS (SELECT FROM article_inbox_entries e WHERE e.id = b.entry) \
    UNION ALL SELECT 'entry ' || e.id || ': its bodies are missing' FROM article_inbox_entries e WHERE e.has_bytes \
    AND NOT EXISTS (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id AND b.body IS NOT NULL) LIMIT 1000";

/// Looks for damage in everything that is stored, and for settings that lose what was acknowledged.
pub(crate) fn check<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, Vec<Finding>> {
    Box::pin(async move {
        let settings = schema::wrong_settings(tx).await?;
        let mut damage = damaged_bodies(tx).await?;
        for row in tx.query(LOST, &[]).await? {
            damage.push(row.try_get(0)?);
        }
        damage.extend(damaged_rows(tx).await?);
        let settings = settings.into_iter().map(Finding::Setting);
        Ok(settings.chain(damage.into_iter().map(Finding::Damage)).collect())
    })
}

/// Writes something, to check whether the database can commit.
pub(crate) fn probe<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, ()> {
    Box::pin(async move {
        tx.query(sql::WRITE_LOG, &[]).await?;
        Ok(())
    })
}
