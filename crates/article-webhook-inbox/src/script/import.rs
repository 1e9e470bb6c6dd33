//! The script that adds what another store exported.

use article_webhook::JobId;
use bytes::Bytes;

use super::{Effect, IntentRows, Intents, NamedJobs, Script, Tables};
use crate::{
    Body, Entry, Error,
    call::{ExpectedJob, Imported, Intent},
    rules::{BodyBytes, BodyRow, Bucket, IntentRow},
    timestamp::rounded,
};

/// What another store exported. Ids have no meaning here.
#[derive(Debug, Clone)]
pub enum ImportRow {
    /// An entry with its bodies, in the order of their arrival.
    Entry(Entry, Vec<Body>),
    /// A job. If it has an article, the entry must be here.
    Job(ExpectedJob),
    /// A job that is added whether its entry is here or not, because retention removed that there.
    RemovedJob(ExpectedJob),
    /// An intent.
    Intent(Intent),
    /// The bucket of the API.
    Bucket(Bucket),
}

/// Adds rows that another store exported. Returns what was added, and the jobs that rely on an entry which is not here: they
/// are not added.
#[derive(Debug)]
pub struct Import(pub Vec<ImportRow>);

impl Script for Import {
    type Output = (Imported, Vec<ExpectedJob>);

    fn effect(&self) -> Effect {
        Effect::Adds(self.0.iter().map(ImportRow::bytes).sum())
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let named = self.0.iter().filter_map(ImportRow::job_id);
        let mut jobs = NamedJobs::load(tables, named).await?;
        let mut names: Vec<_> = self.0.iter().filter_map(ImportRow::intent).collect();
        names.sort_unstable();
        names.dedup();
        let mut intents = tables.intents(Intents::Named(names)).await?;
        let now = tables.now();
        let (mut imported, mut early) = (Imported::default(), Vec::new());

        // The entries first, because jobs rely on them.
        for row in &self.0 {
            let ImportRow::Entry(entry, bodies) = row else { continue };
            let job = jobs.get_mut(&entry.key.job_id);
            let entry = Entry { received_at: rounded(entry.received_at), ..entry.clone() };
            let bodies = bodies.iter().map(BodyRow::imported).collect();
            let is_new = job.import(&entry, bodies, now);
            imported.added += u64::from(is_new);
            imported.present += u64::from(!is_new);
        }
        for row in &self.0 {
            match row {
                ImportRow::Entry(..) => {}
                ImportRow::Job(job) | ImportRow::RemovedJob(job) => {
                    let rows = jobs.get_mut(&job.job_id);
                    let is_early =
                        job.relies_on().is_some_and(|key| rows.entry(&key.event).is_none());
                    if is_early && matches!(row, ImportRow::Job(_)) {
                        early.push(job.clone());
                        continue;
                    }
                    let is_new = rows.import_job(job, now);
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    let Some(name) = &job.intent else { continue };
                    let intent = intent_mut(&mut intents, name);
                    match intent.row.get_mut() {
                        Some(row) => drop(row.resolve(&job.job_id, now)),
                        None => intent.row.set(IntentRow::of_imported(job, now)),
                    }
                }
                ImportRow::Intent(there) => {
                    let intent = intent_mut(&mut intents, &there.name);
                    let is_new = intent.row.get().is_none();
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    match intent.row.get_mut() {
                        Some(row) => drop(row.import_outcome(there)),
                        None => intent.row.set(IntentRow::import(there, now)),
                    }
                }
                ImportRow::Bucket(there) => {
                    let mut bucket = tables.bucket().await?;
                    bucket.import(there, now);
                    tables.save_bucket(bucket).await?;
                }
            }
        }
        jobs.save(tables).await?;
        tables.save_intents(&mut intents).await?;
        Ok((imported, early))
    }
}

fn intent_mut<'a>(intents: &'a mut [IntentRows], name: &str) -> &'a mut IntentRows {
    let mut intents = intents.iter_mut();
    intents.find(|intent| &*intent.name == name).expect("the tables return every named intent")
}

impl ImportRow {
    fn job_id(&self) -> Option<&JobId> {
        match self {
            Self::Entry(entry, _) => Some(&entry.key.job_id),
            Self::Job(job) | Self::RemovedJob(job) => Some(&job.job_id),
            Self::Intent(_) | Self::Bucket(_) => None,
        }
    }

    fn intent(&self) -> Option<Box<str>> {
        match self {
            Self::Job(job) | Self::RemovedJob(job) => job.intent.clone(),
            Self::Intent(intent) => Some(intent.name.clone()),
            Self::Entry(..) | Self::Bucket(_) => None,
        }
    }

    fn bytes(&self) -> usize {
        let Self::Entry(_, bodies) = self else { return 0 };
        bodies.iter().filter_map(|body| body.bytes.as_ref()).map(Bytes::len).sum()
    }
}

impl BodyRow {
    fn imported(body: &Body) -> Self {
        Self {
            received_at: rounded(body.received_at),
            source: body.source,
            target: body.target.clone(),
            intent: body.intent.clone(),
            digest: body.digest,
            bytes: body.bytes.clone().map_or(BodyBytes::Removed, BodyBytes::New),
        }
    }
}
