use std::time::SystemTime;

use article_webhook::{Event, JobId};
use serde::Deserialize;

use super::{
    body::bodies,
    entry::{Columns, StoredRow, failures_in, find_id, write},
    job,
    value::{Damaged, cause, count_in, integer_in, lossy, text_in},
};
use crate::{
    Body, EntryKey, State,
    rules::Row,
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
        statements::sql,
    },
    timestamp::{from_millis, to_millis},
};

/// The longest part of a job id that is kept in another, in bytes.
const LONGEST_NAME: usize = 200;

/// An entry whose row is damaged, as far as it can be read: it is corrupt.
#[derive(Debug)]
pub(in super::super) struct DamagedEntry {
    id: i64,
    /// `None` if it cannot be read.
    job_id: Option<JobId>,
    /// The key that the row was written with, if a single bit of the row has changed since.
    restored: Option<EntryKey>,
    /// A name for operators, if the job id cannot be read.
    name: String,
    event: Event,
    received_at: Option<SystemTime>,
    row: Row,
}

impl DamagedEntry {
    pub(super) fn new(
        id: i64,
        columns: &Columns<'_>,
        damaged: Damaged,
        restored: Option<EntryKey>,
    ) -> Self {
        let [_, job_id, event, received_at, _, attempts, fence, at, _, _, conflicts, _, failures] =
            *columns;
        let time = |value, column| integer_in(value, column).ok().map(from_millis);
        let received_at = time(received_at, "received_at");
        let at = time(at, "at").or(received_at).unwrap_or(SystemTime::UNIX_EPOCH);
        let name = lossy(job_id).unwrap_or_default();
        let row = Row {
            state: State::Corrupt,
            attempts: count_in(attempts, "attempts").unwrap_or_default(),
            fence: integer_in(fence, "fence").unwrap_or_default(),
            conflicts: count_in(conflicts, "conflicts").unwrap_or_default(),
            cause: Some(cause(damaged)),
            failures: failures_in(failures).unwrap_or_default(),
            ..Row::new(at)
        };
        Self {
            id,
            job_id: text_in(job_id, "job_id").ok().and_then(|job_id| job_id.parse().ok()),
            restored,
            name: readable(&name),
            event: Event::from(&*lossy(event).unwrap_or_default()),
            received_at,
            row,
        }
    }

    /// The place among the entries that are due.
    pub(in super::super) fn order(&self) -> (SystemTime, i64) {
        (self.row.at, self.id)
    }

    /// The entry as it is shown while it is not isolated: by a connection that only reads.
    pub(super) fn shown(self, tx: &Tx<'_>) -> StoredRow {
        let stored = self.stored(tx.now());
        tell(tx, &stored);
        stored
    }

    /// Isolates the entry: its row is corrupt and sound from now on. It keeps its key, or gets that back.
    pub(in super::super) fn isolate(mut self, tx: &Tx<'_>) -> Result<StoredRow, Fault> {
        let job = self.job(tx);
        if job.is_some() {
            self.job_id.clone_from(&job);
        }
        if let Some(key) = &self.restored {
            self.event = key.event.clone();
        }
        self.isolate_of(tx, job)
    }

    /// An entry whose row is sound, and whose key another entry has.
    pub(in super::super) fn twin(stored: StoredRow) -> Self {
        let StoredRow { id, key, received_at, row } = stored;
        let cause = Some("another entry has its key".to_owned());
        let row = Row { state: State::Corrupt, cause, ..row };
        let (name, received_at) = (readable(key.job_id.as_str()), Some(received_at));
        Self { id, job_id: None, restored: None, name, event: key.event, received_at, row }
    }

    /// Isolates the entry under another job id, because an entry of its job exists.
    pub(in super::super) fn isolate_renamed(self, tx: &Tx<'_>) -> Result<StoredRow, Fault> {
        let job = self.job(tx);
        Self { job_id: None, ..self }.isolate_of(tx, job)
    }

    /// Isolates the entry, which is one of this job.
    fn isolate_of(self, tx: &Tx<'_>, job: Option<JobId>) -> Result<StoredRow, Fault> {
        let job = job.or_else(|| self.job_id.clone());
        let mut stored = self.stored(tx.now());
        stored.row.mark_corrupt(stored.row.cause.clone().unwrap_or_default(), tx.now());
        // Greater than any number that claims have counted to, so that the fence of no earlier lease comes again.
        stored.row.fence = stored.row.fence.max(to_millis(tx.now()));
        let name = stored.key.job_id.clone();
        let mut number = 1;
        while is_taken(tx, &stored)? {
            number += 1;
            stored.key.job_id = name_of(name.as_str(), stored.id, number);
        }
        write(tx, sql::ISOLATE, &stored)?;
        if stored.key.is_article() {
            job::lose_article(tx, &stored.key.job_id)?;
        }
        // Its key may be another now. If the job has no entry any more, each copy would be taken for a duplicate.
        if let Some(job) = job.filter(|_| !stored.key.is_failure())
            && find_id(tx, &EntryKey::article(job.clone()))?.is_none()
        {
            job::lose_article(tx, &job)?;
        }
        tell(tx, &stored);
        Ok(stored)
    }

    /// The job that the entry was stored for, whatever its row says now.
    fn job(&self, tx: &Tx<'_>) -> Option<JobId> {
        let restored = self.restored.as_ref().map(|key| key.job_id.clone());
        restored.or_else(|| named_by_bodies(tx, self.id))
    }

    fn stored(self, now: SystemTime) -> StoredRow {
        let Self { id, job_id, restored: _, name, event, received_at, row } = self;
        // No real job may be mistaken for this one.
        let job_id = job_id.unwrap_or_else(|| name_of(&name, id, 1));
        let key = EntryKey { job_id, event };
        StoredRow { id, key, received_at: received_at.unwrap_or(now), row }
    }
}

/// The job of the bodies that are what was received, if they name one. A page of theirs may be damaged too: then none does.
fn named_by_bodies(tx: &Tx<'_>, id: i64) -> Option<JobId> {
    #[derive(Deserialize)]
    struct Named {
        job_id: String,
    }
    let bodies = bodies(tx, id).unwrap_or_default().into_iter();
    let intact = bodies.map(|stored| stored.body).filter(Body::is_intact);
    intact.filter_map(|body| body.bytes).find_map(|bytes| {
        let Named { job_id } = serde_json::from_slice(&bytes).ok()?;
        job_id.parse().ok()
    })
}

/// A text with the characters that a job id may have.
fn readable(text: &str) -> String {
    let allowed =
        |char: char| if char.is_ascii_alphanumeric() || "-_.:".contains(char) { char } else { '_' };
    text.chars().map(allowed).collect()
}

/// The job id of a damaged entry. Each number makes another.
fn name_of(name: &str, id: i64, number: u32) -> JobId {
    let end = (0..=LONGEST_NAME.min(name.len())).rfind(|end| name.is_char_boundary(*end));
    let name = &name[..end.unwrap_or_default()];
    let number = if number > 1 { format!("_{number}") } else { String::new() };
    let job_id = format!("{name}_damaged_{id}{number}");
    job_id.parse().expect("what was a job id or readable is one, and it is short enough")
}

/// Whether another entry has the key.
fn is_taken(tx: &Tx<'_>, stored: &StoredRow) -> Result<bool, Fault> {
    Ok(find_id(tx, &stored.key)?.is_some_and(|found| found != stored.id))
}

fn tell(tx: &Tx<'_>, stored: &StoredRow) {
    let StoredRow { id, key, row, .. } = stored;
    let (key, cause) = (key.to_string(), row.cause.as_deref().unwrap_or_default());
    let key = key.escape_debug();
    tx.found(
        Part::Entry,
        format!("entry {id}, {key}, is corrupt: {cause}; deliver or collect the job again, or requeue it"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_job_id_becomes_one_that_operators_can_write() {
        assert_eq!(
            name_of(&readable("job 1\u{1b}[2J\u{fffd}"), 7, 1).as_str(),
            "job_1__2J__damaged_7"
        );
        assert_eq!(name_of("", 7, 1).as_str(), "_damaged_7");
    }

    #[test]
    fn the_longest_job_ids_get_other_names() {
        for longest in ["a".repeat(255), "ä".repeat(127), "語".repeat(85), "x🦀".repeat(51)] {
            let names = [1, 2, u32::MAX].map(|number| name_of(&longest, i64::MIN, number));
            assert!(names.iter().all(|name| name.as_str().len() <= 255));
            assert!(names[0] != names[1] && names[1] != names[2], "{names:?}");
        }
        assert!(name_of(&readable(&"ä".repeat(500)), i64::MAX, 1).as_str().len() <= 255);
    }
}
