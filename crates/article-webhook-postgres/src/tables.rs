//! The tables in PostgreSQL, while a script runs on them in a transaction.
//!
//! Whoever changes what is stored about a job locks the job first, also if nothing is stored about it yet. So a script sees what
//! it changes as it is until the transaction ends. An application's transaction alone locks no job: it completes an entry, and
//! so the update of an entry checks that the state is still the one that was loaded.

mod due;
mod entries;
mod intents;
mod jobs;
mod select;
mod value;

use std::{mem, time::SystemTime};

use self::due::Due;
use crate::{
    connection::{Statement, Transaction, Work},
    fault::Fault,
    notifications,
};
use article_webhook_inbox::{
    CauseCount, Counts, Error, HourCount, LedgerCounts, Since,
    store::{
        Bucket, Claim, Pending,
        tables::{
            JobRows,
            script::{
                Entries, Expected, IntentRows, Intents, Jobs, LoadedBody, Mark, Next, Record,
                Script, Tables,
            },
        },
    },
};

/// Makes a transaction that changes nothing write a record of its own, so that its commit waits until everything before it
/// is safe, on synchronous standbys too.
pub(crate) const WRITE_LOG: &str =
    "WITH written AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'article_inbox', ''))";

/// Runs a script in a transaction.
pub(crate) struct Scripted<S>(pub(crate) S);

impl<S: Script> Work for Scripted<S> {
    type Output = S::Output;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<S::Output, Fault> {
        let mut tables = PgTables { tx, fault: None, due: None };
        let output = self.0.run(&mut tables).await;
        let output = output.map_err(|error| tables.fault.take().unwrap_or(Fault::Ours(error)))?;
        if self.0.makes_due() {
            // With the commit: the program of an operator ends after it.
            tx.write(notifications::to_all(tx.schema_name()), 1);
        }
        Ok(output)
    }
}

/// Stores deliveries.
pub(crate) struct Recording(pub(crate) Scripted<Record>);

impl Work for Recording {
    type Output = <Record as Script>::Output;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Output, Fault> {
        let recorded = self.0.run(tx).await?;
        if !tx.has_written() {
            // What they are duplicates of is visible here before it is safe on a standby. So this waits for it.
            tx.write(Statement::new(WRITE_LOG), 1);
        }
        Ok(recorded)
    }
}

/// The tables in a transaction.
struct PgTables<'a, 'b> {
    tx: &'a mut Transaction<'b>,
    /// Why the last call failed.
    fault: Option<Fault>,
    /// What a claim has found.
    due: Option<Due>,
}

impl PgTables<'_, '_> {
    async fn find_due(&mut self, claim: &Claim) -> Result<Vec<i64>, Fault> {
        let due = Due::find(self.tx, claim).await?;
        let ids = due.ids.clone();
        self.due = Some(due);
        Ok(ids)
    }

    /// The answer of a call.
    fn answer<T>(&mut self, result: Result<T, Fault>) -> Result<T, Error> {
        result.map_err(|fault| {
            let error = fault.error();
            self.fault = Some(fault);
            error
        })
    }
}

impl Tables for PgTables<'_, '_> {
    fn now(&self) -> SystemTime {
        self.tx.now()
    }

    fn node(&self) -> Option<&str> {
        Some(self.tx.node())
    }

    fn jobs(&mut self, which: Jobs) -> Pending<'_, Vec<JobRows>> {
        Box::pin(async move {
            let jobs = match (&mut self.due, which) {
                (Some(due), Jobs::OfEntries(ids)) if ids == due.ids => Ok(mem::take(&mut due.jobs)),
                (_, which) => jobs::load(self.tx, which).await,
            };
            self.answer(jobs)
        })
    }

    fn save<'a>(&'a mut self, jobs: &'a mut [JobRows]) -> Pending<'a, ()> {
        Box::pin(async move {
            entries::save(self.tx, jobs);
            jobs::save(self.tx, jobs);
            Ok(())
        })
    }

    fn entries(&mut self, which: Entries) -> Pending<'_, Vec<i64>> {
        Box::pin(async move {
            let ids = match which {
                Entries::Due(claim) => self.find_due(&claim).await,
                which => select::entries(self.tx, which).await,
            };
            self.answer(ids)
        })
    }

    fn expected(&mut self, which: Expected) -> Pending<'_, Vec<i64>> {
        Box::pin(async move {
            let ids = select::expected(self.tx, &which).await;
            self.answer(ids)
        })
    }

    fn next(&mut self, which: Vec<Next>) -> Pending<'_, Vec<Option<SystemTime>>> {
        Box::pin(async move {
            let next = match self.due.as_ref().and_then(|due| due.next(&which)) {
                Some(known) => Ok(known),
                None => due::next(self.tx, which).await,
            };
            self.answer(next)
        })
    }

    fn bodies(&mut self, entries: Vec<i64>) -> Pending<'_, Vec<Vec<LoadedBody>>> {
        Box::pin(async move {
            let bodies = match &mut self.due {
                Some(due) if entries.iter().all(|id| due.ids.contains(id)) => {
                    Ok(mem::take(&mut due.bodies))
                }
                _ => entries::bodies(self.tx, entries.clone()).await,
            };
            let mut bodies = self.answer(bodies)?;
            Ok(entries.iter().map(|id| bodies.remove(id).unwrap_or_default()).collect())
        })
    }

    fn intents(&mut self, which: Intents) -> Pending<'_, Vec<IntentRows>> {
        Box::pin(async move {
            let intents = intents::load(self.tx, which).await;
            self.answer(intents)
        })
    }

    fn save_intents<'a>(&'a mut self, intents: &'a mut [IntentRows]) -> Pending<'a, ()> {
        Box::pin(async move {
            let saved = intents::save(self.tx, intents).await;
            self.answer(saved)
        })
    }

    fn bucket(&mut self) -> Pending<'_, Bucket> {
        Box::pin(async move {
            let bucket = intents::load_bucket(self.tx).await;
            self.answer(bucket)
        })
    }

    fn save_bucket(&mut self, bucket: Bucket) -> Pending<'_, ()> {
        Box::pin(async move {
            intents::save_bucket(self.tx, &bucket);
            Ok(())
        })
    }

    fn since(&mut self, mark: Mark) -> Pending<'_, Option<Since>> {
        Box::pin(async move {
            let since = match &self.due {
                Some(due) if mark == Mark::Paused => Ok(due.paused.clone()),
                _ => select::since(self.tx, mark).await,
            };
            self.answer(since)
        })
    }

    fn set_since(&mut self, mark: Mark, since: Option<Since>) -> Pending<'_, ()> {
        Box::pin(async move {
            let set = select::set_since(self.tx, mark, since).await;
            self.answer(set)
        })
    }

    fn quarantine_cost(&mut self) -> Pending<'_, u64> {
        Box::pin(async move {
            let cost = select::quarantine_cost(self.tx).await;
            self.answer(cost)
        })
    }

    fn counts(&mut self) -> Pending<'_, Counts> {
        Box::pin(async move {
            let counts = select::counts(self.tx).await;
            self.answer(counts)
        })
    }

    fn causes(&mut self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>> {
        Box::pin(async move {
            let causes = select::causes(self.tx, requeued_at).await;
            self.answer(causes)
        })
    }

    fn hours(&mut self, since: SystemTime) -> Pending<'_, Vec<HourCount>> {
        Box::pin(async move {
            let hours = select::hours(self.tx, since).await;
            self.answer(hours)
        })
    }

    fn ledger_counts(&mut self) -> Pending<'_, LedgerCounts> {
        Box::pin(async move {
            let counts = select::ledger_counts(self.tx).await;
            self.answer(counts)
        })
    }
}
