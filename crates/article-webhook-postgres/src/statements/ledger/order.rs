use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{
    Reason,
    store::{Expect, Intended, IntentLease, IntentRow, NotOrdered},
};

use super::{
    bucket, intents, job_locks, jobs,
    rows::{self, StoredIntent},
};
use crate::{
    connection::{Transaction, Work},
    fault::Fault,
};

/// An intent, how long its call may take, and the key of the call.
pub(crate) type Order = (Box<str>, Duration, u64);

/// An intent, the job that it became, when that is asked for first, and the key of the call.
pub(crate) type Ordered = (Box<str>, JobId, SystemTime, u64);

/// Stores an intent, as [`Ledger::intend`](article_webhook_inbox::store::Ledger::intend) says.
pub(crate) fn intend<'t>(tx: &'t Transaction<'t>, order: &'t Order) -> Work<'t, Intended> {
    Box::pin(async move {
        match intents::lock(tx, &order.0).await? {
            Some(known) => Ok(Intended::Known(shown(known, tx.now().await?))),
            None => begin(tx, None, order).await,
        }
    })
}

/// Like [`intend`], and an intent whose outcome is unknown or that was abandoned may be ordered again.
pub(crate) fn order_again<'t>(tx: &'t Transaction<'t>, order: &'t Order) -> Work<'t, Intended> {
    Box::pin(async move {
        let known = intents::lock(tx, &order.0).await?;
        let now = tx.now().await?;
        match known {
            Some(known) if !known.row.state_at(now).may_be_ordered_again() => {
                Ok(Intended::Known(shown(known, now)))
            }
            known => begin(tx, known, order).await,
        }
    })
}

fn shown(stored: StoredIntent, now: SystemTime) -> article_webhook_inbox::Intent {
    let StoredIntent { id, name, row, .. } = stored;
    row.into_intent(id, name, now)
}

/// Begins the call of an intent that is not known, or that may be ordered again.
async fn begin(
    tx: &Transaction<'_>,
    known: Option<StoredIntent>,
    (name, within, key): &Order,
) -> Result<Intended, Fault> {
    let begun = bucket::change(tx, |bucket, now| bucket.begin_call(*key, now).map(|()| now));
    let now = match begun.await? {
        Ok(now) => now,
        Err(pause) => return Ok(Intended::Paused(pause)),
    };
    if let Some(mut stored) = known
        && let Some(lease) = stored.row.order_again(stored.id, *within, now)
    {
        rows::save_intent(tx, &stored).await?;
        return Ok(Intended::Begun(lease));
    }
    let added = rows::add_intent(tx, name, IntentRow::new(*within, now)).await?;
    Ok(Intended::Begun(added.row.lease(added.id)))
}

/// Stores the job of an order, as [`Ledger::ordered`](article_webhook_inbox::store::Ledger::ordered) says.
pub(crate) fn ordered<'t>(
    tx: &'t Transaction<'t>,
    (name, job_id, at, key): &'t Ordered,
) -> Work<'t, ()> {
    Box::pin(async move {
        // Before its intent, as a delivery does.
        job_locks::take(tx, std::iter::once(job_id)).await?;
        jobs::lock(tx, job_id).await?;
        let known = intents::lock(tx, name).await?;
        let now = tx.now().await?;
        let mut intent = match known {
            Some(known) => known,
            // An intent that is gone begins and ends now.
            None => rows::add_intent(tx, name, IntentRow::new(Duration::ZERO, now)).await?,
        };
        let before = intent.row.clone();
        let is_expected = intent.row.answer(job_id, now);
        if intent.row != before {
            rows::save_intent(tx, &intent).await?;
        }
        if is_expected {
            let (reason, intent, key) = (Reason::Ordered, Some(name.clone()), Some(*key));
            let expect = Expect { reason, intent, key, ..Expect::job(job_id.clone(), *at) };
            jobs::expect_all(tx, &[expect]).await?;
        }
        bucket::change(tx, |bucket, _| bucket.accept_key(*key)).await?;
        Ok(())
    })
}

/// Stores that a call ordered nothing, as [`Ledger::not_ordered`](article_webhook_inbox::store::Ledger::not_ordered) says.
pub(crate) fn not_ordered<'t>(tx: &'t Transaction<'t>, lease: &'t IntentLease) -> Work<'t, bool> {
    Box::pin(async move {
        let Some(mut stored) = intents::lock_id(tx, lease.id).await? else { return Ok(false) };
        let decision = stored.row.not_ordered(*lease, tx.now().await?);
        match decision {
            NotOrdered::Remove => intents::remove(tx, stored.id).await?,
            NotOrdered::Unknown => rows::save_intent(tx, &stored).await?,
            NotOrdered::Nothing => {}
        }
        Ok(decision != NotOrdered::Nothing)
    })
}

/// Stores that a call has ended without a known outcome.
pub(crate) fn outcome_lost<'t>(tx: &'t Transaction<'t>, lease: &'t IntentLease) -> Work<'t, bool> {
    Box::pin(async move {
        let Some(mut stored) = intents::lock_id(tx, lease.id).await? else { return Ok(false) };
        let is_changed = stored.row.outcome_lost(*lease, tx.now().await?);
        if is_changed {
            rows::save_intent(tx, &stored).await?;
        }
        Ok(is_changed)
    })
}

/// Gives up an intent whose outcome is unknown.
pub(crate) fn abandon<'t>(tx: &'t Transaction<'t>, name: &'t str) -> Work<'t, bool> {
    Box::pin(async move {
        let Some(mut stored) = intents::lock(tx, name).await? else { return Ok(false) };
        let is_abandoned = stored.row.abandon(tx.now().await?);
        if is_abandoned {
            rows::save_intent(tx, &stored).await?;
        }
        Ok(is_abandoned)
    })
}
