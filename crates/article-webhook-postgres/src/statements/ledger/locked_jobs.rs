use std::{collections::HashMap, time::SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{
    EntryKey, Reason, State,
    store::{Arrival, Expect, JobRow, Recorded},
};
use tokio_postgres::types::Type;

use super::{
    intents, jobs,
    rows::{self, StoredJob, stored_job},
};
use crate::{connection::Transaction, fault::Fault};

/// The jobs of a batch of arrivals that the ledger has.
pub(in super::super) struct Jobs(HashMap<JobId, StoredJob>);

impl Jobs {
    /// Loads the jobs, and keeps others from changing them.
    pub(in super::super) async fn lock(
        tx: &Transaction<'_>,
        arrivals: &[Arrival],
    ) -> Result<Self, Fault> {
        let articles = arrivals.iter().filter(|arrival| arrival.key.is_article());
        let ids: Vec<_> = articles.map(|arrival| arrival.key.job_id.as_str()).collect();
        let rows = tx.query(jobs::LOCK_ALL, &[(&ids, Type::TEXT_ARRAY)]).await?;
        let jobs = rows.iter().map(|row| {
            let job = stored_job(row)?;
            Ok((job.job_id.clone(), job))
        });
        Ok(Self(jobs.collect::<Result<_, Fault>>()?))
    }

    /// Whether a copy of an article is a duplicate although its entry is gone.
    pub(in super::super) fn is_tombstone(&self, key: &EntryKey) -> bool {
        key.is_article() && self.0.get(&key.job_id).is_some_and(|job| job.row.is_tombstone())
    }

    /// Keeps others from changing the intents of articles.
    pub(in super::super) async fn lock_intents(
        tx: &Transaction<'_>,
        arrivals: &[Arrival],
    ) -> Result<(), Fault> {
        let articles = arrivals.iter().filter(|arrival| arrival.key.is_article());
        intents::lock_all(tx, articles.filter_map(|arrival| arrival.intent.as_deref())).await
    }

    /// Tells the ledger of a copy of an article, as [`Ledger`](article_webhook_inbox::store::Ledger) says. `entry` is the state of
    /// its entry.
    pub(in super::super) async fn note(
        &mut self,
        tx: &Transaction<'_>,
        arrival: &Arrival,
        recorded: Recorded,
        entry: Option<State>,
        now: SystemTime,
    ) -> Result<Recorded, Fault> {
        if !arrival.key.is_article() || recorded == Recorded::Crowded {
            return Ok(recorded);
        }
        let job_id = &arrival.key.job_id;
        if let Some(intent) = arrival.intent.as_deref() {
            self.resolve(tx, job_id, intent, now).await?;
        }
        let Some(job) = self.0.get_mut(job_id) else { return Ok(recorded) };
        let before = job.row.clone();
        job.row.note_copy(arrival.source, arrival.intent.as_deref(), now);
        if let Some(entry) = entry {
            job.row.sync_with_entry(entry, arrival.source, now);
        }
        jobs::save(tx, job, &before).await?;
        Ok(job.row.recorded(recorded, &before, now))
    }

    /// A copy names the intent of its order.
    async fn resolve(
        &mut self,
        tx: &Transaction<'_>,
        job_id: &JobId,
        intent: &str,
        now: SystemTime,
    ) -> Result<(), Fault> {
        let is_known = intents::resolve(tx, Some(intent), job_id, now).await?;
        if is_known && !self.0.contains_key(job_id) {
            let expect = Expect { reason: Reason::Ordered, ..Expect::job(job_id.clone(), now) };
            let entry = jobs::article_entry(tx, job_id).await?;
            let row = JobRow::new(&expect, entry.as_ref(), now);
            self.0.insert(job_id.clone(), rows::add_job(tx, job_id, row).await?);
        }
        Ok(())
    }
}
