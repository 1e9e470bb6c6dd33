//! Damage of the ledger's rows.

use std::collections::BTreeSet;

use super::{bucket, intents, jobs};
use crate::{
    call::IntentState,
    rules::Bucket,
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
        statements::{rows, sql::ledger as sql},
    },
};

/// Rows of the ledger that are damaged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in super::super) struct LedgerSuspects {
    jobs: BTreeSet<i64>,
    intents: BTreeSet<i64>,
    has_twins: bool,
    has_damaged_bucket: bool,
}

impl LedgerSuspects {
    pub(in super::super) fn findings(&self) -> Vec<String> {
        let of = |ids: &BTreeSet<i64>, what: &'static str| {
            let says = "its row is damaged, start the receiver again";
            ids.iter()
                .map(move |id| format!("{what} {id} of the ledger: {says}"))
                .collect::<Vec<_>>()
        };
        let mut findings = of(&self.jobs, "job");
        findings.extend(of(&self.intents, "intent"));
        if self.has_twins {
            findings.push(
                "the ledger has a job or an intent twice, start the receiver again".to_owned(),
            );
        }
        if self.has_damaged_bucket {
            findings.push("the bucket of asks is damaged, start the receiver again".to_owned());
        }
        findings
    }
}

/// Looks at every row of the ledger.
pub(in super::super) fn scan(tx: &Tx<'_>, batch: i64) -> Result<LedgerSuspects, Fault> {
    Ok(LedgerSuspects {
        jobs: damaged(tx, sql::SCAN_JOBS, batch, rows::is_job_sound)?,
        intents: damaged(tx, sql::SCAN_INTENTS, batch, rows::is_intent_sound)?,
        has_twins: !twins(tx, sql::JOB_TWINS)?.is_empty()
            || !twins(tx, sql::INTENT_TWINS)?.is_empty(),
        has_damaged_bucket: matches!(rows::read_bucket(tx)?, Some(Err(_))),
    })
}

/// The ids of damaged rows. Between two batches the log can be restarted.
fn damaged(
    tx: &Tx<'_>,
    statement: &str,
    batch: i64,
    is_sound: impl Fn(&rusqlite::Row<'_>) -> Result<bool, Fault>,
) -> Result<BTreeSet<i64>, Fault> {
    let (mut damaged, mut last) = (BTreeSet::new(), i64::MIN);
    loop {
        let mut statement = tx.prepare_cached(statement)?;
        let mut rows = statement.query([last, batch])?;
        let mut end = None;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            if !is_sound(row)? {
                damaged.insert(id);
            }
            end = Some(id);
        }
        let Some(end) = end else { return Ok(damaged) };
        last = end;
    }
}

/// What two rows have in common. A damaged one is found by its checksum.
fn twins(tx: &Tx<'_>, statement: &str) -> Result<Vec<String>, Fault> {
    let mut statement = tx.prepare(statement)?;
    let twins = statement.query_map([], |row| Ok(row.get(0).ok()))?;
    Ok(twins.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// Mends damaged rows, and tells each.
pub(in super::super) fn mend(tx: &Tx<'_>, suspects: &LedgerSuspects) -> Result<(), Fault> {
    for id in &suspects.jobs {
        // Loading mends.
        jobs::get(tx, *id)?;
    }
    for id in &suspects.intents {
        intents::get(tx, *id)?;
    }
    if suspects.has_damaged_bucket {
        bucket::change(tx, |_: &mut Bucket| ())?;
    }
    if suspects.has_twins || !suspects.jobs.is_empty() || !suspects.intents.is_empty() {
        separate(tx)?;
    }
    Ok(())
}

/// Leaves one row of each job and of each intent: the first that knows of an article, or of an order.
fn separate(tx: &Tx<'_>) -> Result<(), Fault> {
    for job_id in twins(tx, sql::JOB_TWINS)? {
        let Ok(job_id) = job_id.parse() else { continue };
        let mut jobs = Vec::new();
        for id in rows::job_ids(tx, &job_id)? {
            jobs.extend(jobs::get(tx, id)?);
        }
        jobs.sort_by_key(|job| !job.row.state.has_article());
        for job in jobs.iter().skip(1) {
            tx.prepare_cached(sql::REMOVE_JOB)?.execute([job.id])?;
            tell_twin(tx, "job", job.id);
        }
    }
    for name in twins(tx, sql::INTENT_TWINS)? {
        let mut intents = Vec::new();
        for id in rows::intent_ids(tx, &name)? {
            intents.extend(intents::get(tx, id)?);
        }
        intents.sort_by_key(|intent| intent.row.state != IntentState::Ordered);
        for intent in intents.iter().skip(1) {
            intents::remove(tx, intent.id)?;
            tell_twin(tx, "intent", intent.id);
        }
    }
    Ok(())
}

fn tell_twin(tx: &Tx<'_>, what: &str, id: i64) {
    tx.found(Part::Ledger, format!("{what} {id} of the ledger was there twice, and was removed"));
}
