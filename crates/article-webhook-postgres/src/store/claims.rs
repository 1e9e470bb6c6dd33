use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    Error,
    store::{Claim, Claims, Lease, Store as _, from_millis},
};

use super::{PostgresStore, claim_guard::ClaimGuard, damage::Part};
use crate::{
    connection::{Database, Lane, Length},
    fault::Fault,
    statements::{self, Damaged, Found, Scan},
};

/// How often a claim sets entries aside that the server cannot read, and tries again. One page has the bodies of many.
const ROUNDS: usize = 8;

const UNREADABLE: &str = "a page of entries or of their indexes is damaged, so that nothing can be claimed: check the \
    inbox, and restore the server from a backup or fail over to a standby; where there is none, zero_damaged_pages has the \
    server give up what is on the page";

/// Claims what is due, and sets entries aside whose rows are damaged, or whose bodies the server cannot read.
pub(super) async fn claim(
    store: PostgresStore,
    claim: Claim,
) -> Result<ClaimGuard<Claims, Lease>, Error> {
    let began = Instant::now();
    let (scan, length) = store.scans.next(claim.events, began);
    let of = (claim.events, scan);
    let (database, lane) = (&store.database, Lane::Working);
    let arguments = (claim, scan);
    let mut asked = began;
    let mut claimed = ordinary(database, length, &arguments).await;
    for _ in 0..ROUNDS {
        if !claimed.as_ref().is_err_and(Fault::is_damage) {
            break;
        }
        let unreadable = database.retried(lane, length, &arguments, statements::unreadable).await;
        for id in unreadable.unwrap_or_default() {
            isolate(&store, (id, Damaged::Bodies)).await;
        }
        asked = Instant::now();
        claimed = database.retried(lane, length, &arguments, statements::claim).await;
    }
    let (mut claims, found) = claimed.inspect_err(|fault| {
        store.scans.failed(of, fault, began, Instant::now());
        if fault.is_damage() {
            store.damage.add(Part::Entry, UNREADABLE.to_owned());
        }
    })?;
    // What it says is due is due by this clock: it may be that of another server than before.
    store.time.set(from_millis(found.now), asked);
    if let Some(pause) = store.scans.done(of, &found, began, Instant::now()) {
        let all = store.now() + pause;
        claims.next_due = Some(claims.next_due.map_or(all, |due| due.min(all)));
    }
    let leases = claims.claimed.iter().map(|claimed| claimed.lease).collect();
    let claims = ClaimGuard::new(claims, leases, statements::release, Arc::clone(database));
    for id in found.damaged {
        isolate(&store, (id, Damaged::Row)).await;
    }
    Ok(claims)
}

/// Extends leases together, or each by itself if one may be why that fails. Such a one is not extended.
pub(super) async fn extend(
    database: &Database,
    leases: Vec<Lease>,
    by: Duration,
) -> Result<Vec<Lease>, Error> {
    let (lane, length) = (Lane::Working, Length::Call);
    let arguments = (leases, by);
    match database.retried(lane, length, &arguments, statements::extend).await {
        Err(fault) if fault.may_be_of_one_call() => {}
        extended => return Ok(extended?),
    }
    let mut held = Vec::new();
    for lease in arguments.0 {
        match database.retried(lane, length, &(vec![lease], by), statements::extend).await {
            Err(fault) if fault.may_be_of_one_call() => {}
            extended => held.extend(extended?),
        }
    }
    Ok(held)
}

/// Claims by the one statement, or by the general claim if that leaves it.
async fn ordinary(
    database: &Database,
    length: Length,
    arguments: &(Claim, Scan),
) -> Result<(Claims, Found), Fault> {
    let lane = Lane::Working;
    if length == Length::Call
        && let Some(claimed) =
            database.retried(lane, length, arguments, statements::claim_fast).await?
    {
        return Ok(claimed);
    }
    database.retried(lane, length, arguments, statements::claim).await
}

/// Sets an entry aside, and tells it. If that fails, a later claim finds the entry again, at the latest when its lease has ended.
async fn isolate(store: &PostgresStore, damaged: (i64, Damaged)) {
    let (lane, length) = (Lane::Working, Length::Call);
    let isolated = store.database.retried(lane, length, &damaged, statements::isolate).await;
    let finding = isolated.unwrap_or_else(|fault| {
        let error = Error::from(fault);
        Some(format!("entry {} is damaged and cannot be set aside: {error}", damaged.0))
    });
    if let Some(finding) = finding {
        store.damage.add(Part::Entry, finding);
    }
}
