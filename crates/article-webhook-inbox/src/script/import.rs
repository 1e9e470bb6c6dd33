//! The script that adds what another store exported.

use std::time::SystemTime;

use article_webhook::JobId;
use bytes::Bytes;

use super::{Effect, IntentRows, Mark, NamedJobs, Script, Tables, intents_of};
use crate::{
    Error,
    call::{Imported, Since},
    rules::{EntryLine, ExportLine, IntentRow, JobRow, JobRows},
};

/// Adds what another store exported. Returns what was added.
#[derive(Debug)]
pub struct Import(pub Vec<ExportLine>);

impl Script for Import {
    type Output = Imported;

    fn effect(&self) -> Effect {
        adds(&self.0)
    }

    fn makes_due(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Imported, Error> {
        add(tables, &self.0, JobRows::import, JobRows::import_job).await
    }
}

/// A part of a merge, in one transaction: what another store has is added, and what is known there of the work on an entry
/// counts here.
#[derive(Debug)]
pub enum Merge {
    /// What the other store has.
    Lines(Vec<ExportLine>),
    /// Jobs that have ended there with an entry which retention removed.
    RemovedJobs(Vec<ExportLine>),
    /// Everything is merged. If this store was begun for that, claims go on, unless they are paused there; and orders that are not
    /// found are made, unless some may be missing there.
    End {
        /// Claims are paused there.
        is_paused: bool,
        /// Orders may be missing there.
        has_gaps: bool,
    },
}

impl Script for Merge {
    type Output = Imported;

    fn effect(&self) -> Effect {
        match self {
            Self::Lines(lines) | Self::RemovedJobs(lines) => adds(lines),
            Self::End { .. } => Effect::Adds(0),
        }
    }

    fn makes_due(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Imported, Error> {
        match self {
            Self::Lines(lines) => add(tables, lines, JobRows::merge, JobRows::import_job).await,
            Self::RemovedJobs(lines) => {
                add(tables, lines, JobRows::merge, JobRows::merge_removed).await
            }
            Self::End { is_paused, has_gaps } => {
                if tables.since(Mark::Begun).await?.is_some() {
                    tables.set_since(Mark::Begun, None).await?;
                    if !is_paused {
                        tables.set_since(Mark::Paused, None).await?;
                    }
                    if !has_gaps {
                        tables.set_since(Mark::Gaps, None).await?;
                    }
                }
                Ok(Imported::default())
            }
        }
    }
}

/// What a new store does first that takes the place of a damaged one until the content of that is merged: nothing is handed out
/// that may be done there, and nothing is ordered that may be ordered there.
#[derive(Debug)]
pub struct Begin;

impl Script for Begin {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        for mark in [Mark::Begun, Mark::Paused, Mark::Gaps] {
            let since = Since { at: tables.now(), by: None };
            tables.set_since(mark, Some(since)).await?;
        }
        Ok(())
    }
}

fn adds(lines: &[ExportLine]) -> Effect {
    Effect::Adds(lines.iter().map(ExportLine::bytes).sum())
}

/// Adds lines: an entry and a job by these rules.
async fn add(
    tables: &mut dyn Tables,
    lines: &[ExportLine],
    entry_rule: fn(&mut JobRows, &EntryLine, SystemTime) -> bool,
    job_rule: fn(&mut JobRows, JobRow, SystemTime) -> bool,
) -> Result<Imported, Error> {
    let named = lines.iter().filter_map(ExportLine::job_id);
    let mut jobs = NamedJobs::load(tables, named).await?;
    let mut intents = intents_of(tables, lines.iter().filter_map(ExportLine::intent)).await?;
    let now = tables.now();
    let mut imported = Imported::default();

    for line in lines {
        let is_new = match line {
            ExportLine::Entry(entry) => entry_rule(jobs.get_mut(&entry.job_id), entry, now),
            ExportLine::Job(job) => {
                let (job_id, row) = (&job.job_id, job.row());
                if let Some(name) = &job.intent {
                    let intent = intent_mut(&mut intents, name);
                    match intent.row.get_mut() {
                        Some(intent) => intent.resolve_imported(job_id, &row, now),
                        None => intent.row.set(IntentRow::of_imported(job_id, &row, now)),
                    }
                }
                job_rule(jobs.get_mut(job_id), row, now)
            }
            ExportLine::Intent(line) => {
                let intent = intent_mut(&mut intents, &line.name);
                let is_new = intent.row.get().is_none();
                match intent.row.get_mut() {
                    Some(row) => row.import_outcome(&line.row()),
                    None => intent.row.set(line.row().imported(now)),
                }
                is_new
            }
            ExportLine::Bucket(there) => {
                let mut bucket = tables.bucket().await?;
                bucket.import(there, now);
                tables.save_bucket(bucket).await?;
                continue;
            }
        };
        *match (line, is_new) {
            (ExportLine::Entry(_), true) => &mut imported.added,
            (ExportLine::Entry(_), false) => &mut imported.present,
            (_, true) => &mut imported.ledger_added,
            (_, false) => &mut imported.ledger_present,
        } += 1;
    }
    jobs.save(tables).await?;
    tables.save_intents(&mut intents).await?;
    Ok(imported)
}

fn intent_mut<'a>(intents: &'a mut [IntentRows], name: &str) -> &'a mut IntentRows {
    let mut intents = intents.iter_mut();
    intents.find(|intent| &*intent.name == name).expect("the tables return every named intent")
}

impl ExportLine {
    fn job_id(&self) -> Option<&JobId> {
        match self {
            Self::Entry(entry) => Some(&entry.job_id),
            Self::Job(job) => Some(&job.job_id),
            Self::Intent(_) | Self::Bucket(_) => None,
        }
    }

    fn intent(&self) -> Option<Box<str>> {
        match self {
            Self::Job(job) => job.intent.clone(),
            Self::Intent(intent) => Some(intent.name.clone()),
            Self::Entry(_) | Self::Bucket(_) => None,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let Self::Entry(entry) = self else { return 0 };
        entry.bodies.iter().filter_map(|body| body.body.as_ref()).map(Bytes::len).sum()
    }
}
