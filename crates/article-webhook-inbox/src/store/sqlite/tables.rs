//! The tables in SQLite, while a script runs on them.

mod entry;
mod intent;
mod job;
mod select;
mod value;

use std::{
    future::ready,
    pin::pin,
    task::{Context, Poll, Waker},
    time::SystemTime,
};

use article_webhook::JobId;
use rusqlite::{Connection, OptionalExtension, params};

use self::value::text;
pub(super) use self::{
    entry::{bodies_one_by_one, entry_at, entry_of_slot},
    intent::load as intents,
    job::job_at,
};
use super::{
    damage::Findings,
    fault::{Fault, RESTART},
};
use crate::{
    Error,
    call::{CauseCount, Counts, HourCount, LedgerCounts, Since},
    codec,
    rules::{Bucket, JobRows},
    script::{
        Entries, Expected, IntentRows, Intents, Jobs, LoadedBody, Mark, Next, Pending, Script,
        Tables,
    },
    timestamp::{from_millis, to_millis},
};

/// The tables, inside a transaction of a connection.
pub(super) struct SqliteTables<'a> {
    connection: &'a mut Connection,
    now: SystemTime,
    findings: &'a Findings,
    /// Why the last call failed. The writer needs the code that SQLite gave.
    fault: Option<Fault>,
}

/// Runs a script in the transaction that the connection is in.
pub(super) fn run<S: Script>(
    script: &S,
    connection: &mut Connection,
    now: SystemTime,
    findings: &Findings,
) -> Result<S::Output, Fault> {
    let mut tables = SqliteTables { connection, now, findings, fault: None };
    let output = {
        let future = pin!(script.run(&mut tables));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => {
                unreachable!("a script waits for its tables alone, and these are ready")
            }
        }
    };
    output.map_err(|error| {
        let fault = tables.fault.take().unwrap_or(Fault::Ours(error));
        note_damage(&fault, findings);
        fault
    })
}

/// Reports that a page cannot be read, if that is why a call failed.
pub(super) fn note_damage(fault: &Fault, findings: &Findings) {
    if fault.is_damage() {
        findings.add("page", format!("a page of the database cannot be read: {RESTART}"));
    }
}

impl SqliteTables<'_> {
    /// The answer of a call, which is ready.
    fn answer<'a, T: Send + 'a>(&mut self, result: Result<T, Fault>) -> Pending<'a, T> {
        Box::pin(ready(result.map_err(|fault| {
            let error = match &fault {
                Fault::Sql(error) => super::fault::translate(error),
                Fault::Ours(error) => Error::unusable(error.to_string()),
            };
            self.fault = Some(fault);
            error
        })))
    }

    fn load(&mut self, which: Jobs) -> Result<Vec<JobRows>, Fault> {
        let is_named = matches!(which, Jobs::Named(_));
        let mut names: Vec<JobId> = match which {
            Jobs::Named(names) => names,
            Jobs::OfEntries(ids) => self.names("article_inbox_entries", &ids)?,
            Jobs::OfExpected(ids) => self.names("article_inbox_jobs", &ids)?,
        };
        names.sort_unstable();
        names.dedup();
        let jobs = names.into_iter().map(|job_id| self.load_job(job_id));
        // A job that an index leads to the row of another fails only the calls that name it.
        jobs.filter(|job| is_named || !matches!(job, Err(Fault::Ours(_)))).collect()
    }

    fn names(&self, table: &str, ids: &[i64]) -> Result<Vec<JobId>, Fault> {
        let statement = format!("SELECT job_id FROM {table} WHERE id = ?1");
        let mut statement = self.connection.prepare_cached(&statement)?;
        let mut names = Vec::with_capacity(ids.len());
        for id in ids {
            let name = statement.query_row([id], |row| Ok(text(row.get_ref(0)?))).optional()?;
            match name.map(|name| name.and_then(|name| name.parse().ok())) {
                Some(Some(name)) => names.push(name),
                Some(None) => {
                    let says = "its job id cannot be read; deliver or collect the job again, or expect it again";
                    self.findings.add("entry", format!("row {id} of {table}: {says}"));
                }
                None => {}
            }
        }
        Ok(names)
    }

    fn load_job(&self, job_id: JobId) -> Result<JobRows, Fault> {
        let expected = job::load(self.connection, &job_id, self.now, self.findings)?;
        let entries = entry::load(self.connection, &job_id, self.now, self.findings)?;
        let mut job = JobRows { job_id, expected, entries };
        job.sync_with_damage(self.now);
        Ok(job)
    }

    fn save_jobs(&mut self, jobs: &mut [JobRows]) -> Result<(), Fault> {
        for job in jobs {
            entry::save(self.connection, job)?;
            job::save(self.connection, job)?;
        }
        Ok(())
    }

    fn load_bucket(&self) -> Result<Bucket, Fault> {
        let stored = "SELECT value FROM article_inbox_meta WHERE name = 'bucket'";
        let mut statement = self.connection.prepare_cached(stored)?;
        let stored = statement.query_row([], |row| Ok(text(row.get_ref(0)?))).optional()?;
        Ok(match stored {
            None => Bucket::new(),
            // An empty bucket polls too little for a few minutes, and a full one could poll too much.
            Some(stored) => {
                stored.and_then(|document| codec::row(&document)).unwrap_or_else(|| {
                    let says = "the token bucket of polls is damaged, and is empty now";
                    self.findings.add("ledger", says.to_owned());
                    Bucket::empty()
                })
            }
        })
    }

    fn store_bucket(&self, bucket: &Bucket) -> Result<(), Fault> {
        let save = "INSERT OR REPLACE INTO article_inbox_meta (name, value) VALUES ('bucket', ?1)";
        self.connection.prepare_cached(save)?.execute([codec::document(bucket)])?;
        Ok(())
    }

    fn load_since(&self, name: &str) -> Result<Option<Since>, Fault> {
        let since = "SELECT value, set_by FROM article_inbox_meta WHERE name = ?1";
        let mut statement = self.connection.prepare_cached(since)?;
        let since = statement.query_row([name], |row| {
            let at = from_millis(row.get_ref(0)?.as_i64().unwrap_or_default());
            Ok(Since { at, by: text(row.get_ref(1)?).map(Into::into) })
        });
        Ok(since.optional()?)
    }

    fn store_since(&self, name: &str, since: Option<Since>) -> Result<(), Fault> {
        match since {
            None => {
                let end = "DELETE FROM article_inbox_meta WHERE name = ?1";
                self.connection.prepare_cached(end)?.execute([name])?;
            }
            Some(Since { at, by }) => {
                let begin = "INSERT OR REPLACE INTO article_inbox_meta (name, value, set_by) VALUES (?1, ?2, ?3)";
                self.connection.prepare_cached(begin)?.execute(params![name, to_millis(at), by])?;
            }
        }
        Ok(())
    }
}

impl Tables for SqliteTables<'_> {
    fn now(&self) -> SystemTime {
        self.now
    }

    fn jobs(&mut self, which: Jobs) -> Pending<'_, Vec<JobRows>> {
        let loaded = self.load(which);
        self.answer(loaded)
    }

    fn save<'a>(&'a mut self, jobs: &'a mut [JobRows]) -> Pending<'a, ()> {
        let saved = self.save_jobs(jobs);
        self.answer(saved)
    }

    fn entries(&mut self, which: Entries) -> Pending<'_, Vec<i64>> {
        let ids = select::entries(self.connection, &which, self.now, self.findings);
        self.answer(ids)
    }

    fn expected(&mut self, which: Expected) -> Pending<'_, Vec<i64>> {
        let ids = select::expected(self.connection, &which, self.now, self.findings);
        self.answer(ids)
    }

    fn next(&mut self, which: Vec<Next>) -> Pending<'_, Vec<Option<SystemTime>>> {
        let next = |which| select::next(self.connection, which, self.findings);
        let next = which.iter().map(next).collect();
        self.answer(next)
    }

    fn bodies(&mut self, entries: Vec<i64>) -> Pending<'_, Vec<Vec<LoadedBody>>> {
        let bodies = entries.into_iter().map(|id| entry::bodies(self.connection, id)).collect();
        self.answer(bodies)
    }

    fn intents(&mut self, which: Intents) -> Pending<'_, Vec<IntentRows>> {
        let intents = intent::load(self.connection, &which, self.now, self.findings);
        self.answer(intents)
    }

    fn save_intents<'a>(&'a mut self, intents: &'a mut [IntentRows]) -> Pending<'a, ()> {
        let saved = intents.iter_mut().try_for_each(|intent| intent::save(self.connection, intent));
        self.answer(saved)
    }

    fn bucket(&mut self) -> Pending<'_, Bucket> {
        let bucket = self.load_bucket();
        self.answer(bucket)
    }

    fn save_bucket(&mut self, bucket: Bucket) -> Pending<'_, ()> {
        let saved = self.store_bucket(&bucket);
        self.answer(saved)
    }

    fn since(&mut self, mark: Mark) -> Pending<'_, Option<Since>> {
        let since = self.load_since(mark.name());
        self.answer(since)
    }

    fn set_since(&mut self, mark: Mark, since: Option<Since>) -> Pending<'_, ()> {
        let set = self.store_since(mark.name(), since);
        self.answer(set)
    }

    fn quarantine_cost(&mut self) -> Pending<'_, u64> {
        let cost = select::quarantine_cost(self.connection);
        self.answer(cost)
    }

    fn counts(&mut self) -> Pending<'_, Counts> {
        let counts = select::counts(self.connection);
        self.answer(counts)
    }

    fn causes(&mut self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>> {
        let causes = select::causes(self.connection, requeued_at);
        self.answer(causes)
    }

    fn hours(&mut self, since: SystemTime) -> Pending<'_, Vec<HourCount>> {
        let hours = select::hours(self.connection, since);
        self.answer(hours)
    }

    fn ledger_counts(&mut self) -> Pending<'_, LedgerCounts> {
        let counts = select::ledger_counts(self.connection, self.now);
        self.answer(counts)
    }
}
