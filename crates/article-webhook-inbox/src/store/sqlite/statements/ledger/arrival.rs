use super::{intents, jobs};
use crate::{
    call::{Arrival, Expect, Reason, Recorded},
    rules::JobRow,
    store::sqlite::{
        damage::Tx,
        fault::Fault,
        statements::{record::record_body, rows},
    },
};

/// Stores a body, and tells the ledger of a copy of an article, as [`Ledger`](crate::store::Ledger) says.
///
/// A delivery of a job that the ledger does not have reads one index more.
pub(in crate::store::sqlite) fn record(tx: &Tx<'_>, arrival: &Arrival) -> Result<Recorded, Fault> {
    if !arrival.key.is_article() {
        return Ok(record_body(tx, arrival)?.0);
    }
    let (job_id, now) = (&arrival.key.job_id, tx.now());
    let mut job = jobs::find(tx, job_id)?;
    let is_tombstone = job.as_ref().is_some_and(|job| job.row.is_tombstone());
    let (recorded, entry) = if is_tombstone && rows::find_id(tx, &arrival.key)?.is_none() {
        (Recorded::Duplicate, None)
    } else {
        let (recorded, state) = record_body(tx, arrival)?;
        (recorded, Some(state))
    };
    if recorded == Recorded::Crowded {
        return Ok(recorded);
    }
    if job.is_some() {
        // An entry that was found damaged has changed it.
        job = jobs::find(tx, job_id)?;
    }
    let is_ordered = intents::resolve(tx, arrival.intent.as_deref(), job_id)?;
    if is_ordered && job.is_none() {
        let expect = Expect { reason: Reason::Ordered, ..Expect::job(job_id.clone(), now) };
        let entry = jobs::article_entry(tx, job_id)?;
        job = Some(rows::add_job(tx, job_id, JobRow::new(&expect, entry.as_ref(), now))?);
    }
    if let Some(mut job) = job {
        let before = job.row.clone();
        job.row.note_copy(arrival.source, arrival.intent.as_deref(), now);
        if let Some(entry) = entry {
            job.row.sync_with_entry(entry, arrival.source, now);
        }
        jobs::save(tx, &job, &before)?;
        return Ok(job.row.recorded(recorded, &before, now));
    }
    Ok(recorded)
}
