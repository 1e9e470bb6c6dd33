use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{bucket, intents, jobs};
use crate::{
    call::{Expect, Intended, IntentLease, Reason},
    rules::{IntentRow, NotOrdered},
    store::sqlite::{
        damage::Tx,
        fault::Fault,
        statements::rows::{self, StoredIntent},
    },
};

/// Stores an intent, as [`Ledger::intend`](crate::store::Ledger::intend) says.
pub(in crate::store::sqlite) fn intend(
    tx: &Tx<'_>,
    name: &str,
    within: Duration,
) -> Result<Intended, Fault> {
    if let Some(StoredIntent { id, name, row }) = intents::find(tx, name)? {
        return Ok(Intended::Known(row.into_intent(id, name, tx.now())));
    }
    let added = rows::add_intent(tx, name, IntentRow::new(within, tx.now()))?;
    Ok(Intended::New(added.row.lease(added.id)))
}

/// Like [`intend`], and an intent whose outcome is unknown or that was abandoned may be ordered again.
pub(in crate::store::sqlite) fn order_again(
    tx: &Tx<'_>,
    name: &str,
    within: Duration,
) -> Result<Intended, Fault> {
    if let Some(mut stored) = intents::find(tx, name)?
        && let Some(lease) = stored.row.order_again(stored.id, within, tx.now())
    {
        rows::save_intent(tx, &stored)?;
        return Ok(Intended::New(lease));
    }
    intend(tx, name, within)
}

/// Stores the job of an order, as [`Ledger::ordered`](crate::store::Ledger::ordered) says.
pub(in crate::store::sqlite) fn ordered(
    tx: &Tx<'_>,
    name: &str,
    job_id: &JobId,
    at: SystemTime,
    key: u64,
) -> Result<(), Fault> {
    // An intent that is gone begins and ends now.
    let intend = || rows::add_intent(tx, name, IntentRow::new(Duration::ZERO, tx.now()));
    let mut intent = intents::find(tx, name)?.map_or_else(intend, Ok)?;
    if intent.row.resolve(job_id, tx.now()) {
        rows::save_intent(tx, &intent)?;
    }
    let (reason, intent) = (Reason::Ordered, Some(name.into()));
    jobs::expect_one(tx, &Expect { reason, intent, ..Expect::job(job_id.clone(), at) })?;
    bucket::change(tx, |bucket| bucket.accept_key(key))?;
    Ok(())
}

/// Stores that a call ordered nothing, as [`Ledger::not_ordered`](crate::store::Ledger::not_ordered) says.
pub(in crate::store::sqlite) fn not_ordered(
    tx: &Tx<'_>,
    lease: IntentLease,
) -> Result<bool, Fault> {
    let Some(mut stored) = intents::get(tx, lease.id)? else { return Ok(false) };
    let decision = stored.row.not_ordered(lease, tx.now());
    match decision {
        NotOrdered::Remove => intents::remove(tx, stored.id)?,
        NotOrdered::Unknown => rows::save_intent(tx, &stored)?,
        NotOrdered::Nothing => {}
    }
    Ok(decision != NotOrdered::Nothing)
}

/// Gives up an intent whose outcome is unknown.
pub(in crate::store::sqlite) fn abandon(tx: &Tx<'_>, name: &str) -> Result<bool, Fault> {
    let Some(mut stored) = intents::find(tx, name)? else { return Ok(false) };
    let is_abandoned = stored.row.abandon(tx.now());
    if is_abandoned {
        rows::save_intent(tx, &stored)?;
    }
    Ok(is_abandoned)
}
