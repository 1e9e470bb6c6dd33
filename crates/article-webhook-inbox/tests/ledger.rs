//! Random calls of a store with a ledger. After each, what the ledger promises must hold.

#![allow(clippy::unwrap_used)] // a call that fails fails the test

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Clock, Digest, Entry, EntryKey, ExpectedJob, Filter, IntentState, JobState, MemoryStore, Prune,
    Source, State,
    store::{
        ApiAnswer, Arrival, BucketSettings, Claim, Expect, Intended, IntentLease, Outcome,
        PollClaim, PollLease, PollOutcome, PollSettled, Recorded, Store,
    },
};
use article_webhook_inbox_contract::CLAIM_ONE;
use proptest::prelude::*;

const BUCKET: BucketSettings = BucketSettings { per_minute: 6, burst: 2, key: 1 };
const LEASE: Duration = Duration::from_secs(60);
const JOBS: usize = 3;

/// A call, on one of a few jobs and intents. A body is one of a few.
#[derive(Debug, Clone, Copy)]
enum Step {
    Advance(u64),
    Record {
        job: usize,
        source: Source,
        body: u8,
        intent: Option<usize>,
    },
    Work(u8),
    Requeue(usize),
    Erase(usize),
    PruneEntries,
    Intend(usize),
    OrderAgain(usize),
    Ordered(usize),
    NotOrdered(usize),
    OutcomeLost(usize),
    Abandon(usize),
    Expect(usize),
    ClaimAsks,
    /// Settles a lease that was given at any time before.
    SettlePoll {
        lease: usize,
        outcome: u8,
        body: u8,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (job, body) = (0..JOBS, 0..6_u8);
    let source = prop_oneof![Just(Source::Webhook), Just(Source::Api)];
    prop_oneof![
        3 => (0..200_u64).prop_map(Step::Advance),
        1 => (0..20_000_u64).prop_map(Step::Advance),
        3 => (job.clone(), source, body.clone(), prop::option::of(0..JOBS))
            .prop_map(|(job, source, body, intent)| Step::Record { job, source, body, intent }),
        4 => (0..5_u8).prop_map(Step::Work),
        1 => job.clone().prop_map(Step::Requeue),
        1 => job.clone().prop_map(Step::Erase),
        1 => Just(Step::PruneEntries),
        2 => job.clone().prop_map(Step::Intend),
        1 => job.clone().prop_map(Step::OrderAgain),
        2 => job.clone().prop_map(Step::Ordered),
        1 => job.clone().prop_map(Step::NotOrdered),
        1 => job.clone().prop_map(Step::OutcomeLost),
        1 => job.clone().prop_map(Step::Abandon),
        2 => job.prop_map(Step::Expect),
        4 => Just(Step::ClaimAsks),
        5 => (any::<prop::sample::Index>(), 0..7_u8, body)
            .prop_map(|(lease, outcome, body)| Step::SettlePoll { lease: lease.index(64), outcome, body }),
    ]
}

/// A store, and what was seen of it.
struct Scene {
    store: MemoryStore,
    clock: Clock,
    polls: Vec<(PollLease, usize)>,
    polled_at: Vec<SystemTime>,
    /// The last call of each intent, and how many there were.
    calls: HashMap<usize, (IntentLease, u32)>,
    /// The job that each intent became, once it is known.
    became: HashMap<usize, JobId>,
    /// The jobs that the ledger must have, and whether a completion of their article was stored.
    known: HashMap<usize, bool>,
}

fn job(number: usize) -> JobId {
    format!("job_{number}").parse().unwrap()
}

fn name(number: usize) -> String {
    format!("post-{number}")
}

fn body(number: u8) -> (Digest, bytes::Bytes) {
    let bytes = number.to_string();
    (Digest::of(bytes.as_bytes()), bytes.into())
}

impl Scene {
    fn fresh() -> Self {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        Self {
            store: MemoryStore::new(clock.clone()),
            clock,
            polls: Vec::new(),
            polled_at: Vec::new(),
            calls: HashMap::new(),
            became: HashMap::new(),
            known: HashMap::new(),
        }
    }

    async fn entry(&self, number: usize) -> Option<State> {
        let shown = self.store.show(EntryKey::article(job(number))).await.unwrap();
        shown.map(|(entry, _)| entry.state)
    }

    async fn take(&mut self, step: Step) {
        let (store, now) = (&self.store, self.clock.now());
        match step {
            Step::Advance(seconds) => self.clock.advance(Duration::from_secs(seconds)),
            Step::Record { job: number, source, body: text, intent } => {
                let ((digest, bytes), key) = (body(text), EntryKey::article(job(number)));
                let intent = intent.map(|intent| name(intent).into());
                let (is_done, before) = (self.known.get(&number), self.entry(number).await);
                let arrival = Arrival { key, source, target: "t".into(), intent, digest, bytes };
                let recorded = store.record(arrival).await.unwrap();
                if is_done == Some(&true) && before.is_none() {
                    assert_eq!(recorded, Recorded::Duplicate, "handled, and forgotten early");
                }
                let is_known = store.job(job(number)).await.unwrap().is_some();
                if is_known {
                    self.known.entry(number).or_default();
                }
            }
            Step::Work(outcome) => {
                let claim = Claim { lease: LEASE, attempts: 1000, ..CLAIM_ONE };
                let Some(claimed) = store.claim(claim).await.unwrap().claimed.pop() else { return };
                let (seen, cause) = (claimed.bodies.len(), String::from("no"));
                let outcome = match outcome {
                    0 => Outcome::Unhandled { seen, cause },
                    1 => Outcome::Corrupt { seen, cause },
                    2 => Outcome::Dead { cause },
                    _ => Outcome::Done,
                };
                let is_done = outcome == Outcome::Done && claimed.key.is_article();
                store.settle(claimed.lease, outcome).await.unwrap();
                let of = |number: &usize| job(*number) == claimed.key.job_id;
                if let Some((_, known)) = self.known.iter_mut().find(|(number, _)| of(number)) {
                    *known |= is_done;
                }
            }
            Step::Requeue(number) => {
                store
                    .requeue(vec![(EntryKey::article(job(number)), None)], SystemTime::UNIX_EPOCH)
                    .await
                    .unwrap();
                self.known.entry(number).and_modify(|is_done| *is_done = false);
            }
            Step::Erase(number) => {
                store.erase(vec![job(number)]).await.unwrap();
                self.known.remove(&number);
                assert_eq!(self.entry(number).await, None);
            }
            Step::PruneEntries => {
                let prune = Prune {
                    bodies_before: now,
                    entries_before: now,
                    limit: 100,
                    ..Prune::default()
                };
                store.prune(prune).await.unwrap();
                // A job that was not known before is left by an entry that was done.
                for number in 0..JOBS {
                    if store.job(job(number)).await.unwrap().is_some() {
                        self.known.entry(number).or_insert(true);
                    }
                }
            }
            Step::Intend(number) => {
                let intended = store.intend(&name(number), LEASE, BUCKET.key, None).await.unwrap();
                if let Intended::Begun(lease) = intended {
                    let was_there = self.calls.insert(number, (lease, 1)).is_some();
                    assert!(!was_there, "an intent orders once");
                }
            }
            Step::OrderAgain(number) => {
                let intended =
                    store.order_again(&name(number), LEASE, BUCKET.key, None).await.unwrap();
                if let Intended::Begun(lease) = intended {
                    let call = self.calls.entry(number).or_insert((lease, 0));
                    *call = (lease, call.1 + 1);
                }
            }
            Step::Ordered(number) => {
                if self.calls.contains_key(&number) {
                    store.ordered(&name(number), job(number), now, 1).await.unwrap();
                    // A job that was erased stays so.
                    if store.job(job(number)).await.unwrap().is_some() {
                        self.known.entry(number).or_default();
                    }
                }
            }
            Step::NotOrdered(number) => {
                if let Some((lease, calls)) = self.calls.get(&number) {
                    store.not_ordered(*lease).await.unwrap();
                    if store.intent(&name(number)).await.unwrap().is_none() {
                        assert_eq!(*calls, 1, "no earlier call");
                        self.calls.remove(&number);
                    }
                }
            }
            Step::OutcomeLost(number) => {
                if let Some((lease, _)) = self.calls.get(&number) {
                    store.outcome_lost(*lease).await.unwrap();
                    let intent = store.intent(&name(number)).await.unwrap();
                    assert!(intent.is_some_and(|intent| intent.state != IntentState::Ordering));
                }
            }
            Step::Abandon(number) => {
                store.abandon(&name(number)).await.unwrap();
            }
            Step::Expect(number) => {
                store.expect(vec![Expect::job(job(number), now)]).await.unwrap();
                self.known.entry(number).or_default();
            }
            Step::ClaimAsks => {
                let claim = PollClaim { limit: 2, lease: LEASE, bucket: BUCKET };
                for poll in store.claim_polls(claim).await.unwrap().polls {
                    let number = (0..JOBS).find(|number| job(*number) == poll.job.job_id).unwrap();
                    self.polls.push((poll.lease, number));
                    self.polled_at.push(now);
                }
            }
            Step::SettlePoll { lease, outcome, body: text } => {
                let Some((lease, number)) = self.polls.iter().rev().nth(lease).copied() else {
                    return;
                };
                self.settle(lease, number, outcome, text).await;
            }
        }
    }

    async fn settle(&mut self, lease: PollLease, number: usize, outcome: u8, text: u8) {
        let (digest, bytes) = body(text);
        let answer = ApiAnswer { target: "api".into(), digest, bytes };
        let (after, cause) = (Duration::from_secs(60), String::from("no"));
        let outcome = match outcome {
            0 => PollOutcome::Failed { answer, cause },
            1 => PollOutcome::NotFound { cause },
            2 => PollOutcome::Unfinished { after, cause },
            3 => PollOutcome::Missing { after, cause },
            4 => PollOutcome::Again { after, cause },
            5 => PollOutcome::Released,
            _ => PollOutcome::Answered(answer),
        };
        let before = self.seen(number).await;
        let is_held = matches!(&before.0, Some(job)
            if job.state == JobState::Polling && job.id == lease.id && self.clock.now() < job.at);
        let settled = self.store.settle_poll(lease, outcome.clone(), 1).await.unwrap();
        let after = self.seen(number).await;
        match settled {
            PollSettled::LostLease => assert_eq!(before, after, "a lost lease changes nothing"),
            PollSettled::OtherHandled { .. } => panic!("nothing came to a URL alone"),
            PollSettled::Settled(state) => {
                assert!(is_held);
                assert_eq!(after.0.map(|job| job.state), Some(state));
                let ends = !state.is_open();
                let is_rejected = |entry: &Entry| {
                    entry.key.is_article()
                        && matches!(entry.state, State::Unhandled | State::Corrupt)
                };
                let is_end = match outcome {
                    // A body that cannot be read ends a job only after three days of such bodies.
                    PollOutcome::Answered(_) => {
                        state == JobState::Unreadable || !after.1.iter().any(is_rejected)
                    }
                    PollOutcome::Failed { .. } | PollOutcome::NotFound { .. } => true,
                    _ => false,
                };
                assert_eq!(ends, is_end, "no number of polls ends a job");
            }
        }
    }

    /// The job and its entries.
    async fn seen(&self, number: usize) -> (Option<ExpectedJob>, Vec<Entry>) {
        let filter = Filter { job_id: Some(job(number)), ..Filter::default() };
        let entries = self.store.list(filter).await.unwrap().entries;
        (self.store.job(job(number)).await.unwrap(), entries)
    }

    async fn check(&mut self) {
        for number in 0..JOBS {
            let shown = self.store.job(job(number)).await.unwrap();
            assert_eq!(shown.is_some(), self.known.contains_key(&number), "none vanishes");
            if let Some(job) = shown {
                match self.entry(number).await {
                    Some(State::Unhandled | State::Corrupt) => assert!(!job.state.has_article()),
                    Some(_) => assert!(job.state.has_article(), "{job:?}"),
                    None => {}
                }
            }
            if let Some(intent) = self.store.intent(&name(number)).await.unwrap() {
                let is_ordered = intent.state == IntentState::Ordered;
                assert!(is_ordered || !self.became.contains_key(&number), "it stays ordered");
                if let Some(job_id) = intent.job_id {
                    let became = self.became.entry(number).or_insert_with(|| job_id.clone());
                    assert_eq!(*became, job_id);
                }
            }
        }
        for (first, since) in self.polled_at.iter().enumerate() {
            let window = self.polled_at.last().unwrap().duration_since(*since).unwrap();
            let polls = (self.polled_at.len() - first) as u128;
            assert!(polls * 10_000 <= 20_000 + window.as_millis(), "{polls} in {window:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_called_the_ledger_keeps_its_promises(
        steps in prop::collection::vec(step(), 1..80)
    ) {
        pollster::block_on(async {
            let mut scene = Scene::fresh();
            for step in steps {
                scene.take(step).await;
                scene.check().await;
            }
        });
    }
}
