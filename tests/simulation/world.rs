use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use article_webhook::CapabilityKey;
use article_webhook_inbox::{
    Clock, EntryKey, Error, ExpectedJob, Intent, JobFilter, LedgerPruned, MemoryStore, store::Store,
};
use article_webhook_simulator::{Service, Settings, SimulatedJobState, Tenant};
use article_webhook_tests::odd_body::OddBody;
use bytes::Bytes;
use fastrand::Rng;
use serde_json::Value;
use tokio::{sync::Notify, time::Instant};

pub(crate) use crate::plan::{Account, Key, Plan, Urls};
use crate::{
    KNOWN,
    api::request,
    faults::Faults,
    forge::forger,
    node::Running,
    observed::{Observed, Route},
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

pub(crate) const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";
pub(crate) const SHOP: &str = "http://shop.test/articles";
pub(crate) const ORDERS: &str = "http://shop.test/orders";

/// How many of the last steps a failure shows, unless `STEPS` says otherwise.
const STEPS: usize = 40;

/// Everything that one run shares. Only its own thread uses it: the locks are for the compiler.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) key: CapabilityKey,
    /// The database, which survives every crash.
    pub(crate) store: MemoryStore,
    clock: Clock,
    start: Instant,
    /// Milliseconds that passed while the machine of the application was suspended.
    suspended: AtomicU64,
    /// Until when the clock of the store was moved along.
    shown: Mutex<Duration>,
    service: Mutex<Service>,
    inner: Mutex<Inner>,
    is_failed: AtomicBool,
    nodes: Mutex<Vec<Option<Running>>>,
    /// Something in the store may be due earlier than was known.
    pub(crate) changed: Notify,
    /// The service took an order.
    pub(crate) orders: Notify,
    pub(crate) failed: Notify,
}

pub(crate) struct Inner {
    pub(crate) rng: Rng,
    /// Draws what is odd about bodies. A seed that has shown something is run as it was, with sound bodies.
    odd_bodies: Option<Rng>,
    pub(crate) forger: Option<Rng>,
    pub(crate) faults: Faults,
    pub(crate) observed: Observed,
    log: VecDeque<String>,
    /// How many steps are kept.
    kept: usize,
    hash: DefaultHasher,
    cause: Option<String>,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// A hash of every step.
    pub(crate) hash: u64,
    pub(crate) cause: Option<String>,
    pub(crate) steps: Vec<String>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        let mut rng = Rng::with_seed(seed);
        // The collector draws its pauses from the generator of the thread.
        fastrand::seed(rng.u64(..));
        let key = if rng.u8(..20) == 0 { Key::Another } else { Key::Same };
        let plan = Plan {
            key,
            nodes: rng.usize(1..=2),
            per_minute: [6, 12, 30, 60][rng.usize(..4)],
            burst: rng.u32(1..=5),
            urls: if rng.u8(..4) > 0 { Urls::Capability } else { Urls::PublishTarget },
            span: match key {
                Key::Same => span(&mut rng, HOUR, 5 * DAY),
                Key::Another => 6 * DAY,
            },
            intents: rng.u32(3..=12),
        };
        let tenants = [Account::Ours, Account::Other].map(|account| {
            let tenant = Tenant::new(account.key()).deliver_to(SHOP, TOKEN);
            tenant.expect("the target is valid")
        });
        let settings = Settings { seed, tenants: tenants.into(), ..Settings::default() };
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + 365 * DAY);
        let faults = Faults::new(&mut rng);
        let steps = std::env::var("STEPS").ok().and_then(|steps| steps.parse().ok());
        Arc::new(Self {
            plan,
            key: CapabilityKey::new(b"0123456789abcdef0123456789abcdef")
                .expect("32 bytes are a key"),
            store: MemoryStore::new(clock.clone()),
            clock,
            start: Instant::now(),
            suspended: AtomicU64::new(0),
            shown: Mutex::default(),
            service: Mutex::new(Service::new(settings)),
            inner: Mutex::new(Inner {
                rng,
                odd_bodies: (!KNOWN.contains(&seed)).then(|| Rng::with_seed(!seed)),
                forger: forger(seed, plan.urls),
                faults,
                observed: Observed::new(plan),
                log: VecDeque::new(),
                kept: steps.unwrap_or(STEPS).max(1),
                hash: DefaultHasher::new(),
                cause: None,
            }),
            is_failed: AtomicBool::new(false),
            nodes: Mutex::new((0..plan.nodes).map(|_| None).collect()),
            changed: Notify::new(),
            orders: Notify::new(),
            failed: Notify::new(),
        })
    }

    /// The time since the start. It moves the clock of the store along.
    pub(crate) fn now(&self) -> Duration {
        let suspended = Duration::from_millis(self.suspended.load(Ordering::Relaxed));
        let now = self.start.elapsed() + suspended;
        let mut shown = lock(&self.shown);
        self.clock.advance(now.saturating_sub(*shown));
        *shown = now.max(*shown);
        now
    }

    /// The same time by the clock of the machines, which the store follows.
    pub(crate) fn time(&self) -> SystemTime {
        self.now();
        self.store.now()
    }

    /// Time passes, and no process of the application notices.
    pub(crate) fn suspend(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).expect("it is at most days");
        self.suspended.fetch_add(millis, Ordering::Relaxed);
        self.with(|inner| inner.observed.rate.asleep += time);
    }

    pub(crate) fn service<T>(&self, action: impl FnOnce(&mut Service, Duration) -> T) -> T {
        let now = self.now();
        action(&mut lock(&self.service), now)
    }

    /// The service took this order of an account, with this answer.
    pub(crate) fn taken(&self, account: Account, order: &str, answer: &[u8]) -> String {
        let json = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap_or_default();
        let (order, answer) = (json(order.as_bytes()), json(answer));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (intent, job) = (text(&order["topic"]), text(&answer["job_id"]));
        self.with(|inner| {
            let is_undecodable = inner.rng.u8(..16) == 0;
            inner.observed.job(&job).odd = match is_undecodable {
                true => Some(OddBody::NotAnArticle),
                false => inner.draw_odd_body(16),
            };
            inner.observed.order_taken(&intent);
            inner.observed.taken.insert(job.clone(), intent);
            if account == Account::Other {
                inner.observed.of_other.insert(job.clone());
            }
        });
        self.orders.notify_waiters();
        job
    }

    /// The jobs and the intents of the ledger, read past every connection.
    pub(crate) async fn ledger(&self) -> (Vec<ExpectedJob>, Vec<Intent>) {
        let jobs = self.store.jobs(JobFilter { limit: 1000, ..JobFilter::default() }).await;
        let jobs = jobs.expect("a store in memory lists its jobs").items;
        let intents = self.store.intents(None, 0, 1000).await;
        (jobs, intents.expect("a store in memory lists its intents").items)
    }

    /// What retention removes from the ledger had ended before that time.
    pub(crate) async fn prune_ledger(
        &self,
        before: SystemTime,
        limit: u32,
    ) -> Result<LedgerPruned, Error> {
        let (jobs, intents) = self.ledger().await;
        let pruned = self.store.prune_ledger(before, limit).await?;
        let (kept_jobs, kept_intents) = self.ledger().await;
        if kept_intents != intents {
            self.fail("retention changed an intent");
        }
        for job in jobs.iter().filter(|job| kept_jobs.iter().all(|kept| kept.id != job.id)) {
            if job.state.is_open() || job.at >= before {
                self.fail(&format!("retention removed {job:?}"));
            }
            self.with(|inner| inner.observed.row_pruned(job.job_id.as_str()));
        }
        Ok(pruned)
    }

    /// The article of a job, if the service has finished it, and nothing changes it on its way.
    pub(crate) fn finished_article(&self, job: &str) -> Option<Bytes> {
        let path = format!("/v1/content/articles/{job}");
        let account = if self.is_of_other(job) { Account::Other } else { Account::Ours };
        let poll = request(account, "GET", &path, Bytes::new());
        let response = self.service(|service, now| service.call(now, &poll));
        let is_complete = self.state_of(job) == Some(SimulatedJobState::Complete);
        is_complete.then(|| response.into_body())
    }

    /// The body of an article, as a sender sends it that gets one in ten wrong.
    pub(crate) fn sent_body(&self, route: Route, job: &str, article: Bytes) -> Bytes {
        let odd = self.with(|inner| {
            let have_ended = inner.faults.have_ended;
            let drawn = if have_ended { None } else { inner.draw_odd_body(12) };
            let odd = inner.observed.odd(job).or(drawn);
            if !have_ended {
                *inner.observed.bodies.entry((route, odd)).or_default() += 1;
            }
            odd
        });
        match odd {
            Some(odd) => odd.body(&article).into(),
            None => article,
        }
    }

    /// Whether this is the article that the service finished, or what an odd sender makes of it and is one all the same.
    pub(crate) fn is_article_of(&self, job: &str, bytes: &[u8]) -> bool {
        let mut readable = OddBody::ALL.into_iter().filter(|odd| odd.is_article());
        self.finished_article(job).is_some_and(|article| {
            article == bytes || readable.any(|odd| odd.body(&article) == bytes)
        })
    }

    /// Whether these bytes are in quarantine, with a reason.
    pub(crate) async fn is_quarantined(&self, job: &str, bytes: &[u8]) -> bool {
        let key = EntryKey::article(job.parse().expect("it is an id")).quarantine();
        let shown = self.store.show(key).await.expect("a store in memory looks");
        shown.is_some_and(|(entry, bodies)| {
            let mut kept = bodies.iter().filter_map(|body| body.bytes.as_deref());
            entry.cause.is_some() && kept.any(|kept| kept == bytes)
        })
    }

    /// Whether the job was ordered with the key of the other account.
    pub(crate) fn is_of_other(&self, job: &str) -> bool {
        self.with(|inner| inner.observed.of_other.contains(job))
    }

    pub(crate) fn has_failed(&self, job: &str) -> bool {
        matches!(self.state_of(job), Some(SimulatedJobState::Failed(_)))
    }

    /// What the service knows about a job.
    pub(crate) fn state_of(&self, job: &str) -> Option<SimulatedJobState> {
        self.service(|service, now| service.job(now, job)).map(|job| job.state)
    }

    pub(crate) fn with<T>(&self, action: impl FnOnce(&mut Inner) -> T) -> T {
        action(&mut lock(&self.inner))
    }

    pub(crate) fn draw<T>(&self, action: impl FnOnce(&mut Rng) -> T) -> T {
        self.with(|inner| action(&mut inner.rng))
    }

    pub(crate) fn nodes(&self) -> MutexGuard<'_, Vec<Option<Running>>> {
        lock(&self.nodes)
    }

    /// Every process ends, and begins with the API key that is used then.
    pub(crate) fn restart_all(&self) {
        let running: Vec<_> = self.nodes().iter().flatten().cloned().collect();
        running.iter().for_each(|node| node.store.process.end());
    }

    /// One of the processes that run.
    pub(crate) fn any_node(&self) -> Option<Running> {
        let running: Vec<_> = self.nodes().iter().flatten().cloned().collect();
        if running.is_empty() {
            return None;
        }
        let node = self.draw(|rng| rng.usize(..running.len()));
        running.into_iter().nth(node)
    }

    /// A step, for the log of the run.
    pub(crate) fn note(&self, step: &str) {
        let step = format!("{:>12.3}  {step}", self.now().as_secs_f64());
        self.with(|inner| {
            step.hash(&mut inner.hash);
            inner.log.truncate(inner.kept - 1);
            inner.log.push_front(step);
        });
    }

    /// What the harness observed. An error ends the run.
    pub(crate) fn seen(&self, check: impl FnOnce(&mut Observed, Duration) -> Result<(), String>) {
        let now = self.now();
        let checked = self.with(|inner| check(&mut inner.observed, now));
        if let Err(cause) = checked {
            self.fail(&cause);
        }
    }

    pub(crate) fn fail(&self, cause: &str) {
        self.note(&format!("FAILED: {cause}"));
        self.with(|inner| _ = inner.cause.get_or_insert_with(|| cause.to_owned()));
        self.is_failed.store(true, Ordering::Relaxed);
        self.failed.notify_waiters();
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.is_failed.load(Ordering::Relaxed)
    }

    pub(crate) fn ending(&self) -> Ending {
        self.with(|inner| Ending {
            hash: inner.hash.finish(),
            cause: inner.cause.clone(),
            steps: inner.log.iter().rev().cloned().collect(),
        })
    }
}

impl Inner {
    /// One time in `times`, an odd body. What is recorded and no article is one of the other faults.
    fn draw_odd_body(&mut self, times: u8) -> Option<OddBody> {
        let rng = self.odd_bodies.as_mut()?;
        let kinds = &OddBody::ALL[..OddBody::ALL.len() - 1];
        if rng.u8(..times) == 0 { rng.choice(kinds).copied() } else { None }
    }
}

/// A time from this to that, short ones as often as long ones.
pub(crate) fn span(rng: &mut Rng, from: Duration, to: Duration) -> Duration {
    let (from, to) = (from.as_secs_f64().ln(), to.as_secs_f64().ln());
    let seconds = (from + (to - from) * rng.f64()).exp();
    Duration::from_secs_f64((seconds * 1000.0).round() / 1000.0)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
