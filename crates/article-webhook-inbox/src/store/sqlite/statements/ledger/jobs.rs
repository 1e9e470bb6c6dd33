use article_webhook::JobId;

use super::intents;
use crate::{
    EntryKey, Source,
    call::{Expect, JobState},
    rules::{ArticleEntry, JobRow},
    store::sqlite::{
        damage::{Part, Tx, Unreadable, index_differs},
        fault::Fault,
        statements::{
            operator::remove,
            rows::{self, DamagedJob, StoredJob, StoredRow},
            sql::ledger as sql,
        },
    },
    timestamp::from_millis,
};

/// Finds a job. One whose row cannot be read is told, and is as if it were not there, so that its article is stored.
pub(super) fn find(tx: &Tx<'_>, job_id: &JobId) -> Result<Option<StoredJob>, Fault> {
    let Some(id) = id(tx, job_id)? else { return Ok(None) };
    match load(tx, id)? {
        Loaded::Sound(stored) if stored.job_id == *job_id => Ok(Some(stored)),
        Loaded::Sound(_) | Loaded::Missing => Err(index_differs()),
        Loaded::Mended(stored) => Ok(stored.filter(|stored| stored.job_id == *job_id)),
        Loaded::Unreadable => Ok(None),
    }
}

/// The id of a job, as the index says. If the index cannot be read, and could not be built again, no job has an id: no
/// delivery must fail because of that.
fn id(tx: &Tx<'_>, job_id: &JobId) -> Result<Option<i64>, Fault> {
    if tx.is_unreadable(Unreadable::Jobs) {
        let says =
            "the jobs of the ledger cannot be found, a page is damaged: start the receiver again";
        tx.found(Part::Page, says.to_owned());
        return Ok(None);
    }
    match rows::job_ids(tx, job_id) {
        Err(fault) if !tx.may_build_again() => Err(tx.learn(Unreadable::Jobs, fault)),
        ids => Ok(ids?.first().copied()),
    }
}

/// What an id leads to.
pub(super) enum Loaded {
    Sound(StoredJob),
    /// Its row was damaged. `None` if it had to be removed.
    Mended(Option<StoredJob>),
    /// It is on a page that cannot be read.
    Unreadable,
    Missing,
}

/// Loads a job. A damaged row is mended.
pub(super) fn load(tx: &Tx<'_>, id: i64) -> Result<Loaded, Fault> {
    if tx.is_unreadable(Unreadable::Job(id)) {
        tx.found(
            Part::Page,
            format!("job {id} of the ledger cannot be read, a page is damaged: restore a backup"),
        );
        return Ok(Loaded::Unreadable);
    }
    let read = rows::read_job(tx, id).map_err(|fault| tx.learn(Unreadable::Job(id), fault))?;
    Ok(match read {
        Some(Ok(stored)) => Loaded::Sound(stored),
        Some(Err(damaged)) => Loaded::Mended(mend(tx, damaged)?),
        None => Loaded::Missing,
    })
}

/// Loads a job by an id that comes from no index of another value.
pub(super) fn get(tx: &Tx<'_>, id: i64) -> Result<Option<StoredJob>, Fault> {
    Ok(match load(tx, id)? {
        Loaded::Sound(stored) | Loaded::Mended(Some(stored)) => Some(stored),
        Loaded::Mended(None) | Loaded::Unreadable | Loaded::Missing => None,
    })
}

/// Writes a damaged row anew, with what can be read of it and with what its article's entry says. Without a job id, or if
/// another row has it, the row is of no use.
fn mend(tx: &Tx<'_>, damaged: DamagedJob) -> Result<Option<StoredJob>, Fault> {
    let DamagedJob { id, readable, cause } = damaged;
    let Some(mut stored) = readable else {
        tx.prepare_cached(sql::REMOVE_JOB)?.execute([id])?;
        let what = "it was removed; expect its job again";
        tx.found(Part::Ledger, format!("job {id} of the ledger: {cause}; {what}"));
        return Ok(None);
    };
    if let Some(entry) = article_entry(tx, &stored.job_id)? {
        stored.row.sync_with_entry(entry.state, entry.source(), tx.now());
    }
    rows::write_job_anew(tx, &stored)?;
    tell(tx, &stored, &cause);
    Ok(Some(stored))
}

/// Tells a damaged row.
pub(super) fn tell(tx: &Tx<'_>, stored: &StoredJob, cause: &str) {
    let (id, job_id, state) = (stored.id, stored.job_id.as_str().escape_debug(), stored.row.state);
    let says = format!("{cause}; it is taken for {state}");
    tx.found(Part::Ledger, format!("job {id} of the ledger, {job_id}: {says}"));
}

/// Writes a job back, if it changed. If its article came, a failure that waits is not handed out any more.
pub(super) fn save(tx: &Tx<'_>, stored: &StoredJob, before: &JobRow) -> Result<(), Fault> {
    if stored.row == *before {
        return Ok(());
    }
    if stored.row.has_arrived_since(before.state)
        && let Some(failure) = rows::find(tx, &EntryKey::failure(stored.job_id.clone()))?
        && failure.row.is_overtaken()
    {
        remove(tx, failure.id)?;
    }
    rows::save_job(tx, stored)
}

/// Whether an article was here, as its job says.
pub(in super::super) fn is_tombstone(tx: &Tx<'_>, key: &EntryKey) -> Result<bool, Fault> {
    let job = if key.is_article() { find(tx, &key.job_id)? } else { None };
    Ok(job.is_some_and(|job| job.row.is_tombstone()))
}

/// The entry of a job's article, as far as the ledger needs to know it.
pub(super) fn article_entry(tx: &Tx<'_>, job_id: &JobId) -> Result<Option<ArticleEntry>, Fault> {
    let stored = rows::find(tx, &EntryKey::article(job_id.clone()))?;
    stored.map(|stored| copies(tx, &stored)).transpose()
}

/// The state of an entry, and how the copies of its article came.
fn copies(tx: &Tx<'_>, stored: &StoredRow) -> Result<ArticleEntry, Fault> {
    let mut statement = tx.prepare_cached(sql::COPIES)?;
    let mut found = statement.query([stored.id])?;
    let mut entry = ArticleEntry { state: stored.row.state, pushed_at: None, collected_at: None };
    while let Some(row) = found.next()? {
        // A body is taken for a delivered one unless it is known to come from the API.
        let source = rows::lossy(row.get_ref(0)?).and_then(|source| Source::from_name(&source));
        let received_at = from_millis(row.get::<_, i64>(1).unwrap_or_default());
        let first = match source.unwrap_or(Source::Webhook) {
            Source::Webhook => &mut entry.pushed_at,
            Source::Api => &mut entry.collected_at,
        };
        *first = Some(first.map_or(received_at, |first| first.min(received_at)));
    }
    Ok(entry)
}

/// Tells the ledger that an entry may be in another state.
pub(in super::super) fn sync_with_entry(tx: &Tx<'_>, entry: &StoredRow) -> Result<(), Fault> {
    if !entry.key.is_article() {
        return Ok(());
    }
    let Some(mut job) = find(tx, &entry.key.job_id)? else { return Ok(()) };
    let (before, entry) = (job.row.clone(), copies(tx, entry)?);
    job.row.sync_with_entry(entry.state, entry.source(), tx.now());
    save(tx, &job, &before)
}

/// Retention removes an entry. What is known of its job stays.
pub(in super::super) fn add_pruned(tx: &Tx<'_>, entry: &StoredRow) -> Result<(), Fault> {
    let job_id = &entry.key.job_id;
    if !entry.key.is_article() || find(tx, job_id)?.is_some() {
        return Ok(());
    }
    if let Some(row) = JobRow::of_pruned(job_id, &copies(tx, entry)?, entry.row.at) {
        rows::add_job(tx, job_id, row)?;
    }
    Ok(())
}

/// Expects jobs, as [`Ledger::expect`](crate::store::Ledger::expect) says.
pub(in crate::store::sqlite) fn expect(
    tx: &Tx<'_>,
    jobs: &[Expect],
) -> Result<Vec<JobState>, Fault> {
    jobs.iter().map(|job| expect_one(tx, job)).collect()
}

pub(super) fn expect_one(tx: &Tx<'_>, expect: &Expect) -> Result<JobState, Fault> {
    intents::resolve(tx, expect.intent.as_deref(), &expect.job_id)?;
    let Some(mut job) = find(tx, &expect.job_id)? else {
        let entry = article_entry(tx, &expect.job_id)?;
        let row = JobRow::new(expect, entry.as_ref(), tx.now());
        return Ok(rows::add_job(tx, &expect.job_id, row)?.row.state);
    };
    let before = job.row.clone();
    job.row.expect(expect, tx.now());
    save(tx, &job, &before)?;
    Ok(job.row.state)
}

/// Erases a job and the link of its intent.
pub(in super::super) fn forget(tx: &Tx<'_>, job_id: &JobId) -> Result<(), Fault> {
    let mut intent = None;
    for id in rows::job_ids(tx, job_id)? {
        let stored = get(tx, id)?;
        if stored.as_ref().is_some_and(|stored| stored.job_id != *job_id) {
            return Err(index_differs());
        }
        intent = stored.and_then(|stored| stored.row.intent).or(intent);
        tx.prepare_cached(sql::REMOVE_JOB)?.execute([id])?;
    }
    intents::forget(tx, job_id, intent.as_deref())
}
