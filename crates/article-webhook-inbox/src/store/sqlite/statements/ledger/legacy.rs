use article_webhook::JobId;
use rusqlite::Row as SqlRow;

use crate::{
    call::{Expect, LAST_DELIVERY, Reason},
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
        statements::{rows, sql::ledger as sql},
    },
    timestamp::{from_millis, later},
};

/// The jobs with a refused delivery that a version without a ledger kept, oldest first. There the service's last delivery
/// came after 400 seconds. A row that cannot be read is left out, and told.
pub(in crate::store::sqlite) fn earlier_jobs(tx: &Tx<'_>) -> Result<Vec<Expect>, Fault> {
    let mut statement = tx.prepare(sql::EARLIER_JOBS)?;
    let mut rows = statement.query([])?;
    let (mut jobs, mut unreadable) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        match read(row) {
            Some(job) => jobs.push(job),
            None => unreadable += 1,
        }
    }
    jobs.sort_by_key(|job| job.at);
    if unreadable > 0 {
        let what = "jobs with a refused delivery could not be read, and are not expected";
        tx.found(Part::Ledger, format!("{unreadable} {what}"));
    }
    Ok(jobs)
}

fn read(row: &SqlRow<'_>) -> Option<Expect> {
    let job_id: JobId = row.get_ref(0).ok()?.as_str().ok()?.parse().ok()?;
    let at = from_millis(row.get_ref(1).ok()?.as_i64().ok()?);
    let code = rows::lossy(row.get_ref(2).ok()?)?.into();
    Some(Expect {
        reason: Reason::Refused { code },
        ..Expect::job(job_id, later(at, LAST_DELIVERY))
    })
}
