//! Scripts of polls: which jobs the API is asked about, and what its answers change.

use super::{Effect, Expected, Jobs, Next, Script, Tables, order::accept_key};
use crate::{
    Error,
    call::{Ask, AskClaim, AskLease, AskOutcome, AskSettled, Asks},
};

impl Script for AskClaim {
    type Output = Asks;

    fn effect(&self) -> Effect {
        Effect::Leases
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Asks, Error> {
        let due = tables.expected(Expected::Due { limit: self.limit }).await?;
        let mut jobs = tables.jobs(Jobs::OfExpected(due.clone())).await?;
        let before = tables.bucket().await?;
        let mut bucket = before;
        let now = tables.now();
        let mut asks = Asks::default();
        for id in due {
            let Some(job) = jobs.iter_mut().find(|job| job.expected.id == id) else { continue };
            let Some(row) = job.expected.get_mut().filter(|row| row.is_due(now)) else { continue };
            if !bucket.take(self.bucket, now) {
                break;
            }
            let lease = row.ask(id, self.lease, now);
            asks.asks.push(Ask { lease, job: row.clone().into_job(id, job.job_id.clone()) });
        }
        tables.save(&mut jobs).await?;
        let asked = asks.asks.iter().map(|ask| ask.lease.id).collect();
        let next_due = tables.next(vec![Next::Poll(asked)]).await?.pop().flatten();
        asks.next = next_due.map(|due| due.max(bucket.next_token(self.bucket, now)));
        if bucket != before {
            tables.save_bucket(bucket).await?;
        }
        Ok(asks)
    }
}

/// Stores the outcome of a poll.
#[derive(Debug)]
pub struct SettlePoll {
    /// The lease of the poll.
    pub lease: AskLease,
    /// The outcome.
    pub outcome: AskOutcome,
    /// The API key.
    pub key: u64,
}

impl Script for SettlePoll {
    type Output = AskSettled;

    fn effect(&self) -> Effect {
        match &self.outcome {
            AskOutcome::Answered(answer) | AskOutcome::Failed { answer, .. } => {
                Effect::Adds(answer.bytes.len())
            }
            _ => Effect::Adds(0),
        }
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<AskSettled, Error> {
        let mut jobs = tables.jobs(Jobs::OfExpected(vec![self.lease.id])).await?;
        let now = tables.now();
        let settle = |job: &mut crate::rules::JobRows| {
            job.settle_poll(self.lease, &self.outcome, self.key, now)
        };
        let settled = jobs.first_mut().map(settle);
        tables.save(&mut jobs).await?;
        // Also if the lease is lost: it is the answer that accepts the key.
        if !matches!(self.outcome, AskOutcome::Again { .. } | AskOutcome::Released) {
            accept_key(tables, self.key).await?;
        }
        Ok(settled.unwrap_or(AskSettled::LostLease))
    }
}
