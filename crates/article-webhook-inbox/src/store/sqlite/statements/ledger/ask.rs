use std::collections::BTreeSet;

use rusqlite::params;

use super::{
    bucket,
    jobs::{self, Loaded},
};
use crate::{
    EntryKey, Source,
    call::{ApiAnswer, Arrival, Ask, AskClaim, AskLease, AskOutcome, AskSettled, Asks},
    rules::{AskLane, Bucket},
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
        statements::{
            record::record_body,
            rows::{self, StoredJob},
            sql::ledger as sql,
        },
    },
    timestamp::{from_millis, to_millis},
};

/// Leases jobs that are due, as [`Ledger::claim_asks`](crate::store::Ledger::claim_asks) says.
pub(in crate::store::sqlite) fn claim_asks(tx: &Tx<'_>, claim: AskClaim) -> Result<Asks, Fault> {
    let now = tx.now();
    let mut left = BTreeSet::new();
    let mut heads = [None, None, None];
    for (lane, head) in AskLane::ALL.into_iter().zip(&mut heads) {
        *head = self::head(tx, lane, &mut left)?;
    }
    let before = bucket::load(tx)?;
    let mut bucket = before.clone().unwrap_or_else(|| Bucket::new(now));
    let mut asks = Asks::default();
    while asks.asks.len() < claim.limit as usize {
        let has_due = |lane| heads[place(lane)].is_some();
        let Some(lane) = AskLane::next(bucket.turn, has_due) else { break };
        if !bucket.take(claim.bucket, now) {
            break;
        }
        let Some(mut job) = heads[place(lane)].take() else { break };
        let lease = job.row.ask(job.id, claim.lease, now);
        rows::save_job(tx, &job)?;
        let is_due_again = job.row.is_due(now);
        let StoredJob { id, job_id, row } = job;
        asks.asks.push(Ask { lease, job: row.into_job(id, job_id) });
        heads[place(lane)] = head(tx, lane, &mut left)?;
        if is_due_again {
            // It waits in the lane of those that were asked for, unless it is one of a backfill.
            heads[place(AskLane::Again)] = head(tx, AskLane::Again, &mut left)?;
        }
    }
    let known = asks.asks.iter().map(|ask| ask.lease.id).chain(left).collect();
    let next_due = next_due(tx, &known)?.map(from_millis);
    let next_token = bucket.next_token(claim.bucket, now);
    asks.next = next_due.zip(next_token).map(|(due, token)| due.max(token));
    if before.as_ref() != Some(&bucket) {
        rows::save_bucket(tx, &bucket)?;
    }
    Ok(asks)
}

/// The place of a lane among [`AskLane::ALL`].
fn place(lane: AskLane) -> usize {
    lane as usize
}

/// The job of a lane that has been due longest. `left` are jobs that are not due, although an index says so: they are no
/// reason to claim again.
fn head(tx: &Tx<'_>, lane: AskLane, left: &mut BTreeSet<i64>) -> Result<Option<StoredJob>, Fault> {
    loop {
        let Some(id) = first(tx, lane, left)? else { return Ok(None) };
        match jobs::load(tx, id)? {
            Loaded::Sound(job) if job.row.is_due(tx.now()) && job.row.lane() == lane => {
                return Ok(Some(job));
            }
            Loaded::Sound(_) | Loaded::Missing if tx.may_build_again() => {
                return Err(index_differs());
            }
            // It has another place in the index now.
            Loaded::Mended(_) => {}
            _ => drop(left.insert(id)),
        }
    }
}

/// The id that an index names first, of those that were not left.
fn first(tx: &Tx<'_>, lane: AskLane, left: &BTreeSet<i64>) -> Result<Option<i64>, Fault> {
    let mut statement = tx.prepare_cached(sql::DUE_JOBS)?;
    let mut ids = statement.query(params![rows::lane_number(lane), to_millis(tx.now())])?;
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        if !left.contains(&id) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The smallest time of all open jobs but these.
fn next_due(tx: &Tx<'_>, known: &BTreeSet<i64>) -> Result<Option<i64>, Fault> {
    let mut next = None;
    // One row more than is known, so that at least one is of another job.
    let limit = i64::try_from(known.len() + 1).unwrap_or(i64::MAX);
    for lane in AskLane::ALL {
        let mut statement = tx.prepare_cached(sql::NEXT_JOBS)?;
        let mut rows = statement.query([rows::lane_number(lane), limit])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            // What is no time is found damaged when it is claimed.
            let Ok(at) = row.get(1) else { continue };
            if known.contains(&id) {
                continue;
            }
            next = Some(next.map_or(at, |next: i64| next.min(at)));
            break;
        }
    }
    Ok(next)
}

/// Gives asks back, because the caller of a claim is gone.
pub(in crate::store::sqlite) fn release_asks(tx: &Tx<'_>, asks: &Asks) -> Result<(), Fault> {
    // It accepts no key.
    let release = |ask: &Ask| settle_ask(tx, ask.lease, &AskOutcome::Released, 0).map(drop);
    asks.asks.iter().try_for_each(release)
}

/// Stores the outcome of an ask, as [`Ledger::settle_ask`](crate::store::Ledger::settle_ask) says.
pub(in crate::store::sqlite) fn settle_ask(
    tx: &Tx<'_>,
    lease: AskLease,
    outcome: &AskOutcome,
    key: u64,
) -> Result<AskSettled, Fault> {
    // Also if the lease is lost: it is the answer that says so.
    if !matches!(outcome, AskOutcome::Again { .. } | AskOutcome::Released) {
        bucket::change(tx, |bucket| bucket.accept_key(key))?;
    }
    let now = tx.now();
    let Some(mut job) = jobs::get(tx, lease.id)?.filter(|job| job.row.is_asked(lease, now)) else {
        return Ok(AskSettled::LostLease);
    };
    let (mut entry, before) = (None, job.row.clone());
    match outcome {
        AskOutcome::Answered(answer) => {
            entry = jobs::article_entry(tx, &job.job_id)?.map(|entry| entry.state);
            if job.row.records_answer(answer.digest, entry) {
                let key = EntryKey::article(job.job_id.clone());
                entry = Some(record_body(tx, &arrival(key, &job, answer))?.1);
            }
        }
        AskOutcome::Failed { answer, .. } => {
            let key = EntryKey::failure(job.job_id.clone());
            record_body(tx, &arrival(key, &job, answer))?;
        }
        _ => {}
    }
    let settled = job.row.settle(lease, outcome, key, entry, now);
    jobs::save(tx, &job, &before)?;
    Ok(settled)
}

fn arrival(key: EntryKey, job: &StoredJob, answer: &ApiAnswer) -> Arrival {
    Arrival {
        key,
        source: Source::Api,
        target: answer.target.clone(),
        intent: job.row.intent.clone(),
        digest: answer.digest,
        bytes: answer.bytes.clone(),
    }
}
