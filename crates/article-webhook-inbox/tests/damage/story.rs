//! What is stored in a database before it is damaged: entries in each state, a ledger and free pages.

use std::{collections::HashMap, time::Duration};

use article_webhook::{Event, fixture};
use article_webhook_inbox::{
    Clock, Digest, EntryKey, Prune, Reason, Source, SqliteStore,
    store::{
        Arrival, BucketSettings, Claimed, Expect, Outcome, PollClaim, PollOutcome, Settled, Store,
    },
};
use article_webhook_inbox_contract::CLAIM_ONE;
use bytes::Bytes;

/// The bodies that were sent for each job. No handler may see another.
pub(super) type Sent = HashMap<String, Vec<Bytes>>;

pub(super) const START: Duration = Duration::from_secs(1_800_000_000);

/// When the damaged database is opened.
pub(super) const LATER: Duration = Duration::from_secs(1_800_000_000 + 600);

/// The job that is delivered to the damaged database.
pub(super) const NEW: &str = "job_new";

pub(super) const BUCKET: BucketSettings = BucketSettings { per_minute: 6_000, burst: 500, key: 1 };

const CLAIM_LEASE: Duration = Duration::from_secs(3600);

pub(super) fn article(job_id: &str, bytes: usize) -> Bytes {
    let seed = job_id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    fixture::generated(seed, bytes).job_id(job_id).bytes().clone()
}

pub(super) fn arrival(job_id: &str, event: &Event, bytes: Bytes) -> Arrival {
    Arrival {
        key: EntryKey { job_id: job_id.parse().expect("a job id"), event: event.clone() },
        source: if bytes.len().is_multiple_of(2) { Source::Webhook } else { Source::Api },
        target: "shop".into(),
        intent: bytes.len().is_multiple_of(3).then(|| "intent_1".into()),
        digest: Digest::of(&bytes),
        bytes,
    }
}

/// Tells the story, in two halves.
pub(super) struct Story<'a> {
    store: &'a SqliteStore,
    clock: &'a Clock,
    sent: Sent,
}

impl<'a> Story<'a> {
    pub(super) fn new(store: &'a SqliteStore, clock: &'a Clock) -> Self {
        Self { store, clock, sent: Sent::new() }
    }

    /// What a database has been through when its receiver is stopped.
    pub(super) async fn run(mut self, part: &str) -> Sent {
        self.large(part).await;
        let day = Duration::from_secs(24 * 3600);
        for number in 0..4 {
            self.end(&format!("{part}_old_{number}"), Outcome::Done).await;
        }
        self.clock.advance(Duration::from_secs(1));
        let before = self.store.now();
        let prune = Prune {
            bodies_before: before,
            entries_before: before - 30 * day,
            limit: 100,
            ..Prune::default()
        };
        self.store.prune(prune).await.expect("pruned");
        for number in 0..5 {
            self.end(&format!("{part}_done_{number}"), Outcome::Done).await;
            let cause = "the shop said no".to_owned();
            self.end(&format!("{part}_dead_{number}"), Outcome::Dead { cause }).await;
        }
        for number in 0..3 {
            let cause = "no article".to_owned();
            self.record(&format!("{part}_unhandled_{number}"), b"{}".as_slice().into()).await;
            self.settle(Outcome::Unhandled { seen: 1, cause }).await;
            let cause = "a stored body differs".to_owned();
            self.end(&format!("{part}_corrupt_{number}"), Outcome::Corrupt { seen: 1, cause })
                .await;
            let cause = "no network".to_owned();
            let after = Duration::from_secs(30);
            self.end(&format!("{part}_again_{number}"), Outcome::Retry { after, cause }).await;
        }
        let (after, cause) = (Duration::from_secs(7200), "much later".to_owned());
        self.end(&format!("{part}_late"), Outcome::Retry { after, cause }).await;
        for number in 0..4 {
            self.record(&format!("{part}_leased_{number}"), article(part, 300 * number)).await;
            self.claim().await;
        }
        for number in 0..12 {
            let job = format!("{part}_waiting_{number}");
            self.record(&job, article(&job, [200, 900, 4000, 15_000][number % 4])).await;
        }
        let two = format!("{part}_two");
        self.record(&two, b"[]".as_slice().into()).await;
        self.record(&two, article(&two, 500)).await;
        let updated = arrival(&format!("{part}_updated"), &"article.updated".into(), "{}".into());
        self.store.record(updated).await.expect("recorded");
        for number in 0..3 {
            let job_id = format!("{part}_refused_{number}").parse().expect("a job id");
            let reason = Reason::Refused { code: "unavailable".into() };
            let at = self.store.now() + Duration::from_secs(400);
            let expect = Expect { reason, ..Expect::job(job_id, at) };
            self.store.expect(vec![expect]).await.expect("expected");
        }
        self.order(part).await;
        // Its pages are free from now on.
        let gone = format!("{part}_gone");
        self.store.erase(vec![gone.parse().expect("a job id")]).await.expect("erased");
        self.sent.remove(&gone);
        self.sent
    }

    /// A few more entries, so that the log is not empty.
    pub(super) async fn add_to_the_log(mut self, part: &str, sent: &mut Sent) {
        for number in 0..6 {
            let job = format!("{part}_waiting_{number}");
            self.record(&job, article(&job, [200, 900, 9000][number % 3])).await;
        }
        self.claim().await;
        sent.extend(self.sent);
    }

    /// Jobs in several states of the ledger, and orders.
    async fn order(&self, part: &str) {
        let now = self.store.now();
        for number in 0..8 {
            let job = |name: &str| format!("{part}_{name}_{number}").parse().expect("a job id");
            let intent = format!("{part}_post_{number}");
            self.store
                .intend(&intent, Duration::from_secs(60), BUCKET.key, None)
                .await
                .expect("intended");
            let at = now + Duration::from_secs(30);
            self.store.ordered(&intent, job("ordered"), at, 1).await.expect("ordered");
            let jobs = ["done", "waiting", "polled"].map(|name| Expect::job(job(name), now));
            self.store.expect(jobs.into()).await.expect("expected");
        }
        self.store
            .intend(&format!("{part}_unknown"), Duration::ZERO, BUCKET.key, None)
            .await
            .expect("intended");
        let claim = PollClaim { limit: 3, lease: CLAIM_LEASE, bucket: BUCKET };
        for (number, poll) in
            self.store.claim_polls(claim).await.expect("polled").polls.iter().enumerate()
        {
            let cause = "job_not_found".to_owned();
            let outcome = match number {
                0 => PollOutcome::NotFound { cause },
                1 => PollOutcome::Missing { after: Duration::from_secs(30), cause },
                _ => continue,
            };
            self.store.settle_poll(poll.lease, outcome, 1).await.expect("settled");
        }
    }

    /// A large body, and another that is erased at the end.
    async fn large(&mut self, part: &str) {
        let gone = format!("{part}_gone");
        self.record(&gone, article(&gone, 60_000)).await;
        let large = format!("{part}_large");
        self.record(&large, article(&large, 200_000)).await;
        let cause = "not yet".to_owned();
        self.settle(Outcome::Dead { cause: cause.clone() }).await;
        self.settle(Outcome::Retry { after: Duration::from_secs(30), cause }).await;
    }

    async fn record(&mut self, job_id: &str, bytes: Bytes) {
        // The body must be that of its job.
        let bytes = if bytes.first() == Some(&b'{') && bytes.len() > 2 {
            article(job_id, bytes.len())
        } else {
            bytes
        };
        self.store
            .record(arrival(job_id, &Event::ArticleComplete, bytes.clone()))
            .await
            .expect("recorded");
        self.sent.entry(job_id.to_owned()).or_default().push(bytes);
    }

    async fn claim(&self) -> Claimed {
        self.store.claim(CLAIM_ONE).await.expect("claimed").claimed.remove(0)
    }

    /// Claims the only entry that is due, and settles it.
    async fn settle(&self, outcome: Outcome) {
        let lease = self.claim().await.lease;
        let settled = self.store.settle(lease, outcome).await;
        assert_eq!(settled.expect("settled"), Settled::Settled);
    }

    async fn end(&mut self, job_id: &str, outcome: Outcome) {
        self.record(job_id, article(job_id, 400)).await;
        self.settle(outcome).await;
    }
}
