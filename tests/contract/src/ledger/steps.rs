//! What the cases of the ledger share.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Digest, ExpectedJob, Intent, JobState,
    store::{
        ApiAnswer, Arrival, BucketSettings, Expect, Intended, IntentLease, Poll, PollClaim,
        PollLease, PollOutcome, PollSettled, Polls,
    },
};
use bytes::Bytes;

use crate::{
    Subject, Trial,
    trial::{FIRST, arrival, job},
};

/// The API key of a case that is not about keys.
pub(crate) const KEY: u64 = 1;

/// A bucket that has a token for each poll of a case that is not about tokens.
pub(super) const AMPLE: BucketSettings =
    BucketSettings { per_minute: 60_000, burst: 1000, key: KEY };

/// The claim of a case that is not about claims.
pub(crate) const POLLS: PollClaim =
    PollClaim { limit: 100, lease: Duration::from_secs(60), bucket: AMPLE };

/// How long the call of an order may take.
pub(crate) const WITHIN: Duration = Duration::from_secs(30);

impl<S: Subject + ?Sized> Trial<S> {
    pub(crate) fn after(&self, seconds: u64) -> SystemTime {
        self.now() + Duration::from_secs(seconds)
    }

    pub(crate) async fn expect(&self, expect: Expect) -> JobState {
        self.store().expect(vec![expect]).await.unwrap()[0]
    }

    /// Expects a job that is polled now.
    pub(crate) async fn expect_now(&self, id: &str) {
        assert_eq!(self.expect(Expect::job(job(id), self.now())).await, JobState::Expected);
    }

    pub(crate) async fn job(&self, id: &str) -> ExpectedJob {
        self.store().job(job(id)).await.unwrap().expect("the ledger has the job")
    }

    pub(super) async fn state(&self, id: &str) -> JobState {
        self.job(id).await.state
    }

    pub(super) async fn claim_polls(&self, claim: PollClaim) -> Polls {
        self.store().claim_polls(claim).await.unwrap()
    }

    /// The jobs that a claim brings, in order.
    pub(crate) async fn polled(&self, claim: PollClaim) -> Vec<String> {
        let polls = self.claim_polls(claim).await.polls.into_iter();
        polls.map(|poll| poll.job.job_id.to_string()).collect()
    }

    /// Polls the one job that is due.
    pub(super) async fn poll(&self, id: &str) -> PollLease {
        let polls = self.claim_polls(POLLS).await.polls;
        let jobs: Vec<_> = polls.iter().map(|Poll { job, .. }| job.job_id.clone()).collect();
        assert_eq!(jobs, [job(id)], "the one job that is due is polled");
        polls[0].lease
    }

    /// Expects a job, and polls it. The caller ensures that no other is due.
    pub(super) async fn polling(&self, id: &str) -> PollLease {
        self.expect_now(id).await;
        self.poll(id).await
    }

    pub(super) async fn settle_poll(&self, lease: PollLease, outcome: PollOutcome) -> PollSettled {
        self.store().settle_poll(lease, outcome, KEY).await.unwrap()
    }

    /// Polls the one job that is due, with this outcome.
    pub(super) async fn poll_with(&self, id: &str, outcome: PollOutcome) -> PollSettled {
        let lease = self.poll(id).await;
        self.settle_poll(lease, outcome).await
    }

    /// The same, after which the job is in this state.
    pub(super) async fn poll_ends(&self, id: &str, outcome: PollOutcome, state: JobState) {
        let settled = self.poll_with(id, outcome.clone()).await;
        assert_eq!(settled, PollSettled::Settled(state), "{id}: {outcome:?}");
    }

    /// Expects a job and ends the poll of it. The caller ensures that no other is due.
    pub(super) async fn end(&self, id: &str, outcome: PollOutcome) -> PollSettled {
        let lease = self.polling(id).await;
        self.settle_poll(lease, outcome).await
    }

    pub(super) async fn intended(&self, name: &str) -> IntentLease {
        match self.store().intend(name, WITHIN, KEY, None).await.unwrap() {
            Intended::Begun(lease) => lease,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn intent(&self, name: &str) -> Intent {
        self.store().intent(name).await.unwrap().expect("the ledger has the intent")
    }
}

/// What the API answers, with this body.
#[must_use]
pub fn answer(body: &str) -> ApiAnswer {
    let bytes = Bytes::copy_from_slice(body.as_bytes());
    ApiAnswer { target: "api".into(), digest: Digest::of(body.as_bytes()), bytes }
}

pub(super) fn answered(body: &str) -> PollOutcome {
    PollOutcome::Answered(answer(body))
}

pub(super) fn failed(body: &str) -> PollOutcome {
    PollOutcome::Failed { answer: answer(body), cause: "generation_failed".into() }
}

pub(super) fn again(seconds: u64) -> PollOutcome {
    PollOutcome::Again { after: Duration::from_secs(seconds), cause: "status 503".into() }
}

pub(super) fn not_found() -> PollOutcome {
    PollOutcome::NotFound { cause: "job_not_found".into() }
}

/// A delivery to the capability URL of that intent.
pub(super) fn with_intent(id: &str, intent: &str) -> Arrival {
    Arrival { target: "capability".into(), intent: Some(intent.into()), ..arrival(id, FIRST) }
}
