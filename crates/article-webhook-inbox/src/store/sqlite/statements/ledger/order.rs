use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{bucket, intents, jobs};
use crate::{
    call::{BucketSettings, Expect, Intended, IntentLease, OrderTurn, Reason},
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
    bucket: BucketSettings,
) -> Result<Intended, Fault> {
    match intents::find(tx, name)? {
        Some(StoredIntent { id, name, row }) => {
            Ok(Intended::Known(row.into_intent(id, name, tx.now())))
        }
        None => begin(tx, name, None, within, bucket),
    }
}

/// Like [`intend`], and an intent whose outcome is unknown or that was abandoned may be ordered again.
pub(in crate::store::sqlite) fn order_again(
    tx: &Tx<'_>,
    name: &str,
    within: Duration,
    bucket: BucketSettings,
) -> Result<Intended, Fault> {
    match intents::find(tx, name)? {
        Some(StoredIntent { id, name, row }) if !row.state_at(tx.now()).may_be_ordered_again() => {
            Ok(Intended::Known(row.into_intent(id, name, tx.now())))
        }
        known => begin(tx, name, known, within, bucket),
    }
}

/// Begins the call of an intent that is not known, or that may be ordered again.
fn begin(
    tx: &Tx<'_>,
    name: &str,
    known: Option<StoredIntent>,
    within: Duration,
    bucket: BucketSettings,
) -> Result<Intended, Fault> {
    let turn = bucket::change(tx, |stored| stored.take_for_order(bucket, tx.now()))?;
    if let OrderTurn::Paused(pause) = turn {
        return Ok(Intended::Paused(pause));
    }
    if let Some(mut stored) = known
        && let Some(lease) = stored.row.order_again(stored.id, within, tx.now())
    {
        rows::save_intent(tx, &stored)?;
        return Ok(Intended::Begun(lease));
    }
    let added = rows::add_intent(tx, name, IntentRow::new(within, tx.now()))?;
    Ok(Intended::Begun(added.row.lease(added.id)))
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
    let before = intent.row.clone();
    let is_expected = intent.row.answer(job_id, tx.now());
    if intent.row != before {
        rows::save_intent(tx, &intent)?;
    }
    if is_expected {
        let (reason, intent, key) = (Reason::Ordered, Some(name.into()), Some(key));
        jobs::expect_one(tx, &Expect { reason, intent, key, ..Expect::job(job_id.clone(), at) })?;
    }
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

/// Stores that a call has ended without a known outcome.
pub(in crate::store::sqlite) fn outcome_lost(
    tx: &Tx<'_>,
    lease: IntentLease,
) -> Result<bool, Fault> {
    let Some(mut stored) = intents::get(tx, lease.id)? else { return Ok(false) };
    let is_changed = stored.row.outcome_lost(lease, tx.now());
    if is_changed {
        rows::save_intent(tx, &stored)?;
    }
    Ok(is_changed)
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
