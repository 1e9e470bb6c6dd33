//! The script that adds what another store exported.

use article_webhook::JobId;
use bytes::Bytes;

use super::{Effect, IntentRows, Intents, NamedJobs, Script, Tables};
use crate::{
    Error,
    call::Imported,
    rules::{ExportLine, IntentRow},
};

/// Adds what another store exported. Returns what was added.
#[derive(Debug)]
pub struct Import(pub Vec<ExportLine>);

impl Script for Import {
    type Output = Imported;

    fn effect(&self) -> Effect {
        Effect::Adds(self.0.iter().map(ExportLine::bytes).sum())
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Imported, Error> {
        let named = self.0.iter().filter_map(ExportLine::job_id);
        let mut jobs = NamedJobs::load(tables, named).await?;
        let mut names: Vec<_> = self.0.iter().filter_map(ExportLine::intent).collect();
        names.sort_unstable();
        names.dedup();
        let mut intents = tables.intents(Intents::Named(names)).await?;
        let now = tables.now();
        let mut imported = Imported::default();

        for line in &self.0 {
            let is_new = match line {
                ExportLine::Entry(entry) => jobs.get_mut(&entry.job_id).import(entry, now),
                ExportLine::Job(job) => {
                    let (job_id, row) = (&job.job_id, job.row());
                    if let Some(name) = &job.intent {
                        let intent = intent_mut(&mut intents, name);
                        match intent.row.get_mut() {
                            Some(row) => drop(row.resolve(job_id, now)),
                            None => intent.row.set(IntentRow::of_imported(job_id, &row, now)),
                        }
                    }
                    jobs.get_mut(job_id).import_job(row, now)
                }
                ExportLine::Intent(line) => {
                    let intent = intent_mut(&mut intents, &line.name);
                    let is_new = intent.row.get().is_none();
                    match intent.row.get_mut() {
                        Some(row) => drop(row.import_outcome(&line.row())),
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
