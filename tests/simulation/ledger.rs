//! The calls of the ledger, with what the harness observes of each.

use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{
    Error, ExpectedJob, Intent, IntentState, JobFilter, JobState, LedgerCounts, LedgerPage,
    LedgerPruned, Reason,
    store::{
        self, Bucket, BucketEvent, Expect, Intended, IntentLease, Ledger, Pending, PollClaim,
        PollLease, PollOutcome, PollSettled, Polls,
    },
};

use crate::{
    observed::{Observed, Poll},
    store::{Connection, calls},
};

/// What a job that is expected was before.
#[derive(Clone, Copy)]
enum Opened {
    /// It is new, or had ended without an article, and is polled after this pause.
    Now(Duration),
    /// It is open, and polled after this pause at the latest.
    Before(Duration),
    Not,
}

impl Connection {
    async fn opened(&self, expect: &Expect) -> Result<Opened, Error> {
        let job = self.world.store.job(expect.job_id.clone()).await?;
        let pause = expect.at.duration_since(self.world.time()).unwrap_or_default();
        let is_backfill = expect.reason == Reason::Backfill;
        let leaves_backfill =
            job.as_ref().is_some_and(|job| job.reason == Reason::Backfill) && !is_backfill;
        let is_refused = matches!(expect.reason, Reason::Refused { .. });
        Ok(match job.map(|job| job.state) {
            None => Opened::Now(pause),
            Some(state) if state.is_open() && (is_refused || leaves_backfill) => {
                Opened::Before(pause)
            }
            Some(state) if state.is_open() || state.has_article() || is_backfill => Opened::Not,
            Some(_) => Opened::Now(pause),
        })
    }

    /// How long the job waits of which a poll has ended.
    async fn waits(&self, id: i64) {
        let row = self.world.with(|inner| inner.observed.rows.get(&id).cloned());
        let Some(job_id) = row.and_then(|poll| poll.job.parse().ok()) else { return };
        let Ok(Some(job)) = self.world.store.job(job_id).await else { return };
        let now = self.world.time();
        // After a body that cannot be read, the pause is an hour.
        let polls = if job.unreadable_since.is_some() { u32::MAX } else { job.polls };
        if job.state == JobState::Expected && polls > 0 {
            let wait = job.at.duration_since(now).unwrap_or_default();
            let expected_for = now.duration_since(job.expected_at).unwrap_or_default();
            let id = job.job_id.as_str();
            self.world.seen(|_, _| Observed::waits(id, wait, polls, expected_for));
        }
    }
}

impl Ledger for Connection {
    fn intend<'a>(&'a self, name: &'a str, within: Duration, key: u64) -> Pending<'a, Intended> {
        self.through("intend", self.world.store.intend(name, within, key), |_, _, _| Ok(()))
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
    ) -> Pending<'a, Intended> {
        let call = self.world.store.order_again(name, within, key);
        self.through("order_again", call, |intended, observed, _| {
            if matches!(intended, Intended::Begun(_)) {
                observed.again(name);
            }
            Ok(())
        })
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, ()> {
        let id = job_id.clone();
        let call = Box::pin(async move {
            // While the store failed, a refused delivery may have made the job known, and retention removed it since.
            self.look_for_a_trace(std::slice::from_ref(&job_id)).await?;
            let opened = self.opened(&Expect::job(job_id.clone(), at)).await?;
            self.world.store.ordered(name, job_id, at, key).await?;
            Ok(opened)
        });
        let call = self.through("ordered", call, move |opened, observed, now| {
            if let Opened::Now(pause) = *opened {
                observed.opened(id.as_str(), now, pause);
            }
            observed.ordered(id.as_str());
            observed.keyed.insert(id.to_string());
            observed.rate.key_accepted(key);
            Ok(())
        });
        Box::pin(async move { call.await.map(drop) })
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        self.through("abandon", self.world.store.abandon(name), |_, _, _| Ok(()))
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        self.through("intent", self.world.store.intent(name), |_, _, _| Ok(()))
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        let ids: Vec<_> = jobs.iter().map(|expect| expect.job_id.clone()).collect();
        let names = ids.clone();
        let call = Box::pin(async move {
            self.look_for_a_trace(&names).await?;
            let mut opened = Vec::new();
            for expect in &jobs {
                opened.push(self.opened(expect).await?);
            }
            Ok((self.world.store.expect(jobs).await?, opened))
        });
        let call = self.through("expect", call, move |(states, opened), observed, now| {
            for ((id, state), opened) in ids.iter().zip(states).zip(opened) {
                observed.expected(id.as_str());
                match *opened {
                    Opened::Now(pause) if state.is_open() => {
                        observed.opened(id.as_str(), now, pause);
                    }
                    Opened::Before(pause) => observed.brought_forward(id.as_str(), now, pause),
                    Opened::Now(_) | Opened::Not => {}
                }
            }
            Ok(())
        });
        Box::pin(async move { call.await.map(|(states, _)| states) })
    }

    fn claim_polls(&self, claim: PollClaim) -> Pending<'_, Polls> {
        let call = self.world.store.claim_polls(claim);
        self.through("claim_polls", call, move |polls, observed, now| {
            for store::Poll { lease, job } in &polls.polls {
                let poll = Poll {
                    job: job.job_id.to_string(),
                    fence: lease.fence,
                    claimed: now,
                    ends: now + claim.lease,
                    settled: false,
                };
                observed.rows.insert(lease.id, poll);
            }
            Ok(())
        })
    }

    fn settle_poll(
        &self,
        lease: PollLease,
        outcome: PollOutcome,
        key: u64,
    ) -> Pending<'_, PollSettled> {
        let settled = outcome.clone();
        let call = Box::pin(async move {
            let before = self.delivered(lease.id).await;
            let result = self.world.store.settle_poll(lease, outcome, key).await;
            let after = self.delivered(lease.id).await;
            if matches!(result, Ok(PollSettled::Settled(_))) {
                self.waits(lease.id).await;
            }
            if !before.iter().all(|digest| after.contains(digest)) {
                self.world.fail("an answer of the API took the place of a delivered body");
            }
            result
        });
        self.through("settle_poll", call, move |result, observed, now| {
            let poll = observed.rows.get(&lease.id).cloned().unwrap_or_default();
            let id = poll.job;
            if !matches!(settled, PollOutcome::Again { .. } | PollOutcome::Released) {
                observed.rate.key_accepted(key);
            }
            if *result == PollSettled::LostLease {
                return Ok(());
            }
            if poll.fence != lease.fence || now >= poll.ends || poll.settled {
                return Err(format!("the answer to a lost poll of {id} is stored"));
            }
            observed.rows.entry(lease.id).or_default().settled = true;
            match (result, settled) {
                (_, PollOutcome::Released) => observed.poll_released(&id),
                (PollSettled::Settled(JobState::Collected), _) => observed.collected(&id, now),
                _ => observed.poll_ended(&id, now),
            }
            Ok(())
        })
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        let call = Box::pin(self.world.prune_ledger(before, limit));
        self.through("prune_ledger", call, |_, _, _| Ok(()))
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        let process = &self.process;
        self.through("report", self.world.store.report(event), move |(), observed, now| match event
        {
            BucketEvent::RateLimited { retry_after } | BucketEvent::Unavailable { retry_after } => {
                observed.rate.pause_stored(process, retry_after, now)
            }
            BucketEvent::KeyAccepted { key } => {
                observed.rate.key_accepted(key);
                Ok(())
            }
            BucketEvent::Resumed => {
                observed.rate.resumed();
                Ok(())
            }
            BucketEvent::KeyRefused { key } => observed.rate.refusal_stored(key, now),
        })
    }

    calls! {
        not_ordered(lease: IntentLease) -> bool;
        outcome_lost(lease: IntentLease) -> bool;
        bucket() -> Bucket;
        job(job_id: JobId) -> Option<ExpectedJob>;
        jobs(filter: JobFilter) -> LedgerPage<ExpectedJob>;
        intents(state: Option<IntentState>, after: i64, limit: u32) -> LedgerPage<Intent>;
        ledger_counts() -> LedgerCounts;
    }
}
