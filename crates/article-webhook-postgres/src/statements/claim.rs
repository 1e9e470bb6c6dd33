mod fast_path;

use std::time::{Duration, SystemTime};

use article_webhook_inbox::store::{
    Claim, ClaimDecision, Claimed, Claiming, Claims, Events, Lease, Outcome, from_millis, to_millis,
};
use tokio_postgres::types::Type;

pub(crate) use self::fast_path::claim_fast;

use super::{
    rows::{self, StoredRow},
    settle::settle,
    sql,
};
use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

/// The numbers of the columns after those of an entry.
const LIST: usize = 14;
const NOW: usize = 15;
const READ: usize = 16;
const PAUSED: usize = 17;

/// What a claim reads of the indexes that it searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// Everything.
    All,
    /// Waiting entries from these times on, in milliseconds, and no leased ones.
    From(ByKind<i64>),
}

/// A value for new entries, and one for those that had an attempt: they are searched apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ByKind<T> {
    pub(crate) new: T,
    pub(crate) retry: T,
}

/// What a claim has found out about the indexes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The database's time, in milliseconds.
    pub(crate) now: i64,
    /// How many entries of them it has read.
    pub(crate) read: i64,
    /// Up to which times it has taken what waits, in milliseconds.
    pub(crate) up_to: ByKind<i64>,
    /// Leases have ended that it has left.
    pub(crate) leaves_leased: bool,
    /// Entries that it has left, because their rows are damaged.
    pub(crate) damaged: Vec<i64>,
}

/// When entries are looked for again that are due, and that another transaction holds.
const HELD_MILLIS: i64 = 50;

/// Leases entries that are due, as [`Store::claim`](article_webhook_inbox::store::Store::claim) says. They are locked from the
/// statement that finds them until the commit, so that no other claim decides about them. Those with a damaged row are left
/// to [`isolate`](super::isolate), because a job is locked before its entry.
pub(crate) fn claim<'t>(
    tx: &'t Transaction<'t>,
    (claim, scan): &'t (Claim, Scan),
) -> Work<'t, (Claims, Found)> {
    Box::pin(async move {
        let takes_failures = claim.events == Events::All;
        let Due { rows: due, now, read: read_before, is_paused } = due(tx, claim, *scan).await?;
        if is_paused {
            return Ok((Claims::default(), Found::paused(to_millis(now))));
        }
        let mut found = Found { now: to_millis(now), ..Found::default() };
        found.up_to = ByKind { new: found.now, retry: found.now };
        // A list that has as many as the limit may go on after its last one.
        for list in List::ALL {
            let mut of_list = due.iter().rev().filter(|(_, of)| *of == list);
            if of_list.clone().count() >= claim.limit as usize
                && let Some((last, _)) = of_list.next()
            {
                found.leave(last, list);
            }
        }
        // What else is due is held by another transaction.
        let mut is_rest_held = due.len() < claim.limit as usize;

        let (mut claims, mut claiming) = (Claims::default(), Claiming::new(*claim, now));
        let mut decided = Vec::new();
        for (before, list) in due {
            if before.damage.is_some() {
                found.damaged.push(before.id);
                continue;
            }
            let mut stored = before.clone();
            let Some(decision) = claiming.decide(stored.id, &mut stored.row) else {
                found.leave(&before, list);
                is_rest_held = false;
                continue;
            };
            claims.expired += u32::from(before.row.has_expired_lease(now));
            match decision {
                ClaimDecision::Buried => claims.buried.push(stored.key.clone()),
                ClaimDecision::Leased { lease, runs_alone } => claims.claimed.push(Claimed {
                    lease,
                    key: stored.key.clone(),
                    attempt: stored.row.attempts,
                    received_at: stored.received_at,
                    runs_alone,
                    bodies: Vec::new(),
                }),
            }
            decided.push(stored);
        }
        claims.alone_waits = claiming.alone_waits();

        let ids: Vec<_> = claims.claimed.iter().map(|claimed| claimed.lease.id).collect();
        let (now, (floor, reads_all)) = (to_millis(now), scan.bounds());
        let parameters = [
            (&ids as _, Type::INT8_ARRAY),
            (&takes_failures as _, Type::BOOL),
            (&now as _, Type::INT8),
            (&floor.new as _, Type::INT8),
            (&floor.retry as _, Type::INT8),
            (&reads_all as _, Type::BOOL),
        ];
        let ((), mut bodies, next) = tokio::try_join!(
            biased;
            rows::save_all(tx, &decided),
            rows::bodies(tx, &ids),
            tx.query(sql::NEXT, &parameters),
        )?;
        for claimed in &mut claims.claimed {
            claimed.bodies = bodies.remove(&claimed.lease.id).unwrap_or_default();
        }
        let next = first(&next)?;
        let next_due: Option<i64> = next.try_get(0)?;
        claims.next_due = next_due.map(|next_due| match next_due {
            held if is_rest_held && held <= now => from_millis(now + HELD_MILLIS),
            next_due => from_millis(next_due),
        });
        claims.failures_wait = !takes_failures && next.try_get(1)?;
        found.read = next.try_get::<_, i64>(2)? - read_before;
        Ok((claims, found))
    })
}

/// Entries that a claim would take, and whose bodies the server cannot read: it would fail because of each.
pub(crate) fn unreadable<'t>(
    tx: &'t Transaction<'t>,
    (claim, scan): &'t (Claim, Scan),
) -> Work<'t, Vec<i64>> {
    Box::pin(async move {
        let mut unreadable = Vec::new();
        for (stored, _) in due(tx, claim, *scan).await?.rows {
            if tx.unless_damaged(rows::bodies(tx, &[stored.id])).await?.is_none() {
                unreadable.push(stored.id);
            }
        }
        Ok(unreadable)
    })
}

impl Scan {
    /// From which times on waiting entries are read, and whether leased ones are.
    fn bounds(self) -> (ByKind<i64>, bool) {
        match self {
            Self::All => (ByKind { new: i64::MIN, retry: i64::MIN }, true),
            Self::From(floor) => (floor, false),
        }
    }
}

impl Found {
    /// Claims are paused: nothing was looked for.
    fn paused(now: i64) -> Self {
        let up_to = ByKind { new: i64::MIN, retry: i64::MIN };
        Self { now, up_to, ..Self::default() }
    }

    /// This entry is due and was left, or others after it were.
    fn leave(&mut self, stored: &StoredRow, list: List) {
        let at = to_millis(stored.row.at);
        match list {
            List::Articles | List::Failures => self.up_to.new = self.up_to.new.min(at),
            List::ArticleRetries | List::FailureRetries => {
                self.up_to.retry = self.up_to.retry.min(at);
            }
            List::Leased => self.leaves_leased = true,
        }
    }
}

/// What is due, in the order of the claim.
struct Due {
    rows: Vec<(StoredRow, List)>,
    now: SystemTime,
    /// How much the connection has read before.
    read: i64,
    is_paused: bool,
}

/// A list of [`sql::DUE`]. Each has the limit of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Articles,
    ArticleRetries,
    Failures,
    FailureRetries,
    Leased,
}

impl List {
    /// In the order of their numbers.
    const ALL: [Self; 5] =
        [Self::Articles, Self::ArticleRetries, Self::Failures, Self::FailureRetries, Self::Leased];
}

async fn due(tx: &Transaction<'_>, claim: &Claim, scan: Scan) -> Result<Due, Fault> {
    let (takes_failures, limit) = (claim.events == Events::All, i64::from(claim.limit));
    let (floor, reads_all) = scan.bounds();
    let parameters = [
        (&tx.given_time() as _, Type::INT8),
        (&limit as _, Type::INT8),
        (&takes_failures as _, Type::BOOL),
        (&floor.new as _, Type::INT8),
        (&floor.retry as _, Type::INT8),
        (&reads_all as _, Type::BOOL),
    ];
    let found = tx.begin_with(sql::DUE, &parameters).await?;
    let clock = first(&found)?;
    let mut rows = Vec::with_capacity(found.len());
    for row in &found {
        // If nothing is due, there is the time alone.
        let Some(list) = row.try_get::<_, Option<i32>>(LIST)? else { continue };
        let list = usize::try_from(list).ok().and_then(|list| List::ALL.get(list));
        rows.push((rows::stored(row)?, *list.unwrap_or(&List::Leased)));
    }
    rows.sort_unstable_by_key(|(stored, _)| claim.order(&stored.row, stored.id));
    let (now, read): (i64, i64) = (clock.try_get(NOW)?, clock.try_get(READ)?);
    Ok(Due { rows, now: from_millis(now), read, is_paused: clock.try_get(PAUSED)? })
}

/// Extends leases that hold, as [`Store::extend`](article_webhook_inbox::store::Store::extend) says, and returns them. An entry
/// that an application's transaction holds is not extended, and its lease counts as held while it lasts.
pub(crate) fn extend<'t>(
    tx: &'t Transaction<'t>,
    (leases, by): &'t (Vec<Lease>, Duration),
) -> Work<'t, Vec<Lease>> {
    Box::pin(async move {
        let ids: Vec<_> = leases.iter().map(|lease| lease.id).collect();
        let ids = [(&ids as _, Type::INT8_ARRAY)];
        let locked = tx.query(sql::LOCK_LEASES, &ids).await?;
        let locked = locked.iter().map(rows::stored).collect::<Result<Vec<_>, _>>()?;
        let now = tx.now().await?;
        let (mut held, mut ends) = (Vec::new(), (Vec::new(), Vec::new()));
        for mut stored in locked {
            let of_entry = leases.iter().filter(|lease| lease.id == stored.id);
            for lease in of_entry {
                if stored.row.extend(*lease, *by, now) {
                    held.push(*lease);
                    ends.0.push(stored.id);
                    ends.1.push(to_millis(stored.row.at));
                }
            }
        }
        if held.len() < leases.len() {
            for row in tx.query(sql::LEASES, &ids).await? {
                let mut stored = rows::stored(&row)?;
                let others = leases.iter().filter(|lease| lease.id == stored.id);
                let others: Vec<_> = others.filter(|lease| !held.contains(lease)).collect();
                held.extend(
                    others.into_iter().filter(|lease| stored.row.extend(**lease, *by, now)),
                );
            }
        }
        if !ends.0.is_empty() {
            let parameters = [(&ends.0 as _, Type::INT8_ARRAY), (&ends.1 as _, Type::INT8_ARRAY)];
            tx.execute(sql::EXTEND, &parameters).await?;
        }
        Ok(held)
    })
}

/// Gives entries back, because the caller of a claim is gone.
pub(crate) fn release<'t>(tx: &'t Transaction<'t>, leases: &'t [Lease]) -> Work<'t, ()> {
    Box::pin(async move {
        let mut leases = leases.to_vec();
        leases.sort_unstable_by_key(|lease| lease.id);
        for lease in leases {
            let release = (lease, Outcome::Released);
            settle(tx, &release).await?;
        }
        Ok(())
    })
}
