mod isolate;
mod scan;

mod bodies;
mod rows;

use article_webhook_inbox::Finding;

pub(crate) use self::isolate::{Damaged, isolate};
use self::{
    bodies::{damaged_bodies, lost_bodies},
    rows::{damage_of_ledger, damaged_entries},
};
use super::sql;
use crate::{
    connection::{Transaction, Work},
    schema,
};

/// Looks for damage in everything that is stored, and for settings that lose what was acknowledged.
pub(crate) fn check<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, Vec<Finding>> {
    Box::pin(async move {
        let settings = schema::wrong_settings(tx).await?;
        let entries = damaged_entries(tx).await?;
        let mut damage = damaged_bodies(tx, &entries.unreadable).await?;
        damage.extend(lost_bodies(tx).await?);
        damage.extend(entries.findings);
        damage.extend(damage_of_ledger(tx).await?);
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
