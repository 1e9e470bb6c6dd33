//! Scripts of polls: which jobs the API is polled about, and what its answers change.

use super::{
    Effect, Expected, Jobs, Next, Script, Tables,
    order::{accept_key, known, not_known},
};
use crate::{
    EntryKey, Error,
    call::{JobState, Poll, PollClaim, PollLease, PollOutcome, PollSettled, Polls},
    rules::{JobRows, all_report_failure},
};

impl Script for PollClaim {
    type Output = Polls;

    fn effect(&self) -> Effect {
        Effect::Leases
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Polls, Error> {
        let due = tables.expected(Expected::Due { limit: self.limit }).await?;
        let mut jobs = tables.jobs(Jobs::OfExpected(due.clone())).await?;
        let before = tables.bucket().await?;
        let mut bucket = before;
        let now = tables.now();
        let mut polls = Polls::default();
        for id in due {
            let Some(job) = jobs.iter_mut().find(|job| job.expected.id == id) else { continue };
            let Some(row) = job.expected.get_mut().filter(|row| row.is_due(now)) else { continue };
            if !bucket.take(self.bucket, now) {
                break;
            }
            let lease = row.poll(id, self.lease, now);
            polls.polls.push(Poll { lease, job: row.clone().into_job(id, job.job_id.clone()) });
        }
        tables.save(&mut jobs).await?;
        let polled = polls.polls.iter().map(|poll| poll.lease.id).collect();
        let next_due = tables.next(vec![Next::Poll(polled)]).await?.pop().flatten();
        polls.next = next_due.map(|due| due.max(bucket.next_token(self.bucket, now)));
        if bucket != before {
            tables.save_bucket(bucket).await?;
        }
        Ok(polls)
    }
}

/// Stores the outcome of a poll.
#[derive(Debug)]
pub struct SettlePoll {
    /// The lease of the poll.
    pub lease: PollLease,
    /// The outcome.
    pub outcome: PollOutcome,
    /// The API key.
    pub key: u64,
}

impl Script for SettlePoll {
    type Output = PollSettled;

    fn effect(&self) -> Effect {
        match &self.outcome {
            PollOutcome::Answered(answer) | PollOutcome::Failed { answer, .. } => {
                Effect::Adds(answer.bytes.len())
            }
            _ => Effect::Adds(0),
        }
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<PollSettled, Error> {
        let mut jobs = tables.jobs(Jobs::OfExpected(vec![self.lease.id])).await?;
        let now = tables.now();
        let mut settled = PollSettled::LostLease;
        if let Some(job) = jobs.first_mut().filter(|job| job.is_polled(self.lease, now)) {
            settled = self.settle(tables, job).await?;
        }
        tables.save(&mut jobs).await?;
        // Also if the lease is lost: it is the answer that accepts the key.
        if !matches!(self.outcome, PollOutcome::Again { .. } | PollOutcome::Released) {
            accept_key(tables, self.key).await?;
        }
        Ok(settled)
    }
}

impl SettlePoll {
    async fn settle(
        &self,
        tables: &mut dyn Tables,
        job: &mut JobRows,
    ) -> Result<PollSettled, Error> {
        let mut handled = match self.outcome.knows_the_job() {
            true => known(tables, job).await?,
            false => None,
        };
        let settled = job.settle_poll(self.lease, &self.outcome, self.key, tables.now());
        match settled {
            PollSettled::Settled(JobState::Failed) => end_reported_failure(tables, job).await?,
            PollSettled::Settled(JobState::NotFound) => handled = not_known(tables, job).await?,
            _ => {}
        }
        Ok(match (settled, handled, job.expected.get()) {
            (PollSettled::Settled(_), Some(other), Some(row)) => {
                PollSettled::OtherHandled { state: row.state, other }
            }
            (settled, ..) => settled,
        })
    }
}

/// The job has failed, as deliveries in quarantine reported: nothing is left to be read there.
async fn end_reported_failure(tables: &mut dyn Tables, job: &mut JobRows) -> Result<(), Error> {
    let key = EntryKey::article(job.job_id.clone()).quarantine();
    let Some(entry) = job.entry(&key.event) else { return Ok(()) };
    let bodies = tables.bodies(vec![entry.row.id]).await?;
    if all_report_failure(bodies.iter().flatten().map(|loaded| &loaded.body)) {
        job.discard(&key.event, "", tables.now());
    }
    Ok(())
}
