use std::time::SystemTime;

use article_webhook::JobId;
use rusqlite::{Connection, Row as SqlRow, params};

use super::value::{index_differs, new_id, remove, text};
use crate::{
    JobState, codec,
    rules::{Change, JobRow, JobRows, Tracked},
    store::sqlite::{damage::Findings, fault::Fault},
    timestamp::{from_millis, to_millis},
};

macro_rules! columns {
    () => {
        "job.id, job.state, job.intent, job.expected_at, job.at, job.polls, job.fence, job.pushed_at, job.collected_at, \
         job.document, job.checksum, job.job_id"
    };
}

/// What the ledger knows of a job.
pub(super) fn load(
    connection: &Connection,
    job_id: &JobId,
    now: SystemTime,
    findings: &Findings,
) -> Result<Tracked<JobRow>, Fault> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM article_inbox_jobs AS named CROSS JOIN article_inbox_jobs AS job NOT INDEXED ON job.id = named.id \
         WHERE named.job_id = ?1"
    ))?;
    let mut rows = statement.query([job_id.as_str()])?;
    let Some(columns) = rows.next()? else { return Ok(Tracked::none()) };
    let (row, is_sound, is_state_known) = job(job_id, columns)?;
    if !is_sound && text(columns.get_ref(11)?).as_deref() != Some(job_id.as_str()) {
        return Err(index_differs(findings));
    }
    if !is_sound {
        let state = if is_state_known { row.state } else { JobState::default() };
        findings.add(
            "ledger",
            format!(
                "the job {} of the ledger: its checksum does not match; it is treated as {state}",
                job_id.as_str().escape_debug(),
            ),
        );
    }
    let mut row = Tracked::stored(columns.get(0)?, row);
    // A job whose state cannot be read is polled.
    if let (false, Some(row)) = (is_state_known, row.get_mut()) {
        (row.state, row.at) = (JobState::Expected, now);
    }
    Ok(row)
}

/// The job with this id, as its table alone has it, with its row if that can be trusted. `None` if its name cannot be read.
pub(in crate::store::sqlite) fn job_at(
    connection: &Connection,
    id: i64,
) -> Result<Option<(JobId, JobRow, bool)>, Fault> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM article_inbox_jobs AS job NOT INDEXED WHERE job.id = ?1"
    ))?;
    let mut rows = statement.query([id])?;
    let Some(columns) = rows.next()? else { return Ok(None) };
    let name = text(columns.get_ref(11)?).and_then(|name| name.parse().ok());
    let Some(job_id) = name else { return Ok(None) };
    let (row, is_sound, _) = job(&job_id, columns)?;
    Ok(Some((job_id, row, is_sound)))
}

/// The row of a job, whether it can be trusted, and whether its state is known.
fn job(job_id: &JobId, row: &SqlRow<'_>) -> Result<(JobRow, bool, bool), Fault> {
    let id: i64 = row.get(0)?;
    let number =
        |index| -> rusqlite::Result<i64> { Ok(row.get_ref(index)?.as_i64().unwrap_or_default()) };
    let time =
        |index| -> rusqlite::Result<_> { Ok(row.get_ref(index)?.as_i64().ok().map(from_millis)) };
    let state = text(row.get_ref(1)?).and_then(|name| JobState::from_name(&name));
    let document = text(row.get_ref(9)?).unwrap_or_default();
    let is_sound = number(10)? == checksum(id, job_id, &document) && state.is_some();
    let known = codec::row::<JobRow>(&document).filter(|_| is_sound);
    let is_sound = known.is_some();
    let row = JobRow {
        // Not the state that it gets below, so that it counts as changed and is saved.
        state: state.unwrap_or(JobState::NotFound),
        intent: text(row.get_ref(2)?).map(Into::into),
        expected_at: from_millis(number(3)?),
        at: from_millis(number(4)?),
        polls: u32::try_from(number(5)?).unwrap_or(u32::MAX),
        fence: number(6)?,
        pushed_at: time(7)?,
        collected_at: time(8)?,
        ..known.unwrap_or_else(JobRow::unread)
    };
    Ok((row, is_sound, state.is_some()))
}

fn checksum(id: i64, job_id: &JobId, document: &str) -> i64 {
    codec::checksum(&[&id.to_le_bytes(), job_id.as_str().as_bytes()], document)
}

/// Saves what has changed in what the ledger knows of a job.
pub(super) fn save(connection: &Connection, job: &mut JobRows) -> Result<(), Fault> {
    let (id, row) = match job.expected.change() {
        Change::Nothing => return Ok(()),
        Change::Delete => {
            let statement = "DELETE FROM article_inbox_jobs WHERE id = ?1";
            return remove(connection, statement, job.expected.id);
        }
        Change::Insert(row) => (new_id(connection)?, row),
        Change::Update(row) => (job.expected.id, row),
    };
    let document = codec::document(row);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO article_inbox_jobs (id, job_id, state, intent, expected_at, at, polls, fence, \
             pushed_at, collected_at, document, checksum) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            id,
            job.job_id.as_str(),
            row.state.as_str(),
            row.intent.as_deref(),
            to_millis(row.expected_at),
            to_millis(row.at),
            row.polls,
            row.fence,
            row.pushed_at.map(to_millis),
            row.collected_at.map(to_millis),
            document,
            checksum(id, &job.job_id, &document)
        ])?;
    job.expected.id = id;
    Ok(())
}
