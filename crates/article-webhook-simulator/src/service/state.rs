use std::{collections::HashMap, fmt, ops::RangeInclusive, sync::Arc, time::Duration};

use super::{call::Call, event_queue::EventQueue, settings::Settings};
use crate::{
    Attempt, Rule, SimulatedJob,
    accounts::Account,
    deliveries::{Delivery, Latest},
    faults::Plan,
    jobs::{BYTES_PER_WORD, JobIds, JobRecord, Recipe},
    pipeline::Timetable,
    seeded_rng::draw,
};

/// Separates the draws of an article's seed and length from others about the same job.
const ARTICLE: u64 = 3;

/// The length of an article whose order names none.
const DRAWN_WORDS: RangeInclusive<usize> = 500..=3000;

/// The whole service as a state machine, without I/O and without a clock. Its owner supplies the time since the
/// start, and sends the attempts that are due. [`Simulator`](crate::Simulator) does both.
///
/// The time must not decrease.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_simulator::{DeliveryOutcome, Service, Settings, StatusCode, Tenant};
/// use http::Request;
///
/// let tenant = Tenant::new("sk-1").deliver_to("http://receiver.test/", "Bearer secret")?;
/// let mut service = Service::new(Settings { tenants: vec![tenant], ..Settings::default() });
///
/// let order = |key| {
///     let request = Request::post("/v1/content/articles").header("Content-Type", "application/json");
///     request.header("Authorization", key).body(r#"{"topic":"Shoes"}"#.into()).unwrap()
/// };
/// assert_eq!(service.call(Duration::ZERO, &order("Bearer sk-2")).status(), 401);
/// assert_eq!(service.call(Duration::ZERO, &order("Bearer sk-1")).status(), 202);
///
/// let done = service.next_due().expect("a job is running");
/// let push = &service.due(done)[0];
/// assert_eq!(push.url(), "http://receiver.test/");
///
/// service.pushed(done, push, DeliveryOutcome::status(StatusCode::SERVICE_UNAVAILABLE));
/// assert_eq!(service.next_due(), Some(done + Duration::from_secs(10)));
/// # Ok::<(), article_webhook_simulator::InvalidTarget>(())
/// ```
pub struct Service {
    pub(crate) seed: u64,
    pub(crate) base_url: String,
    pub(crate) image_base: Arc<str>,
    pub(crate) generation: RangeInclusive<Duration>,
    pub(crate) price: u64,
    pub(crate) accounts: Vec<Account>,
    pub(crate) keys: HashMap<String, usize>,
    pub(crate) ids: JobIds,
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) endings: EventQueue<usize>,
    pub(crate) deliveries: EventQueue<Delivery>,
    pub(crate) attempts: Latest<Attempt>,
    pub(crate) latest_calls: Latest<Call>,
    pub(crate) plan: Plan,
    pub(crate) calls: u64,
    pub(crate) orders: u64,
}

impl Service {
    /// A service without jobs.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let limit = settings.rate_limit;
        let accounts = settings.tenants.into_iter().map(|tenant| Account::new(tenant, limit));
        let accounts: Vec<_> = accounts.collect();
        let keys = accounts.iter().enumerate();
        let keys = keys.map(|(index, account)| (account.api_key.clone(), index)).collect();
        Self {
            image_base: format!("{}/images", settings.base_url).into(),
            base_url: settings.base_url,
            generation: settings.generation,
            price: settings.price,
            accounts,
            keys,
            ids: JobIds::new(settings.seed),
            jobs: Vec::new(),
            endings: EventQueue::new(),
            deliveries: EventQueue::new(),
            attempts: Latest::default(),
            latest_calls: Latest::default(),
            plan: Plan::new(settings.seed, settings.faults),
            calls: 0,
            orders: 0,
            seed: settings.seed,
        }
    }

    /// The time of the next event: a job ends, or a delivery is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.endings.next_at().into_iter().chain(self.deliveries.next_at()).min()
    }

    /// The job with this id.
    #[must_use]
    pub fn job(&self, now: Duration, job_id: &str) -> Option<SimulatedJob> {
        let job = self.ids.job(job_id).filter(|&job| job < self.jobs.len());
        job.map(|job| self.report(now, job))
    }

    /// All jobs, in the order in which they were ordered.
    #[must_use]
    pub fn jobs(&self, now: Duration) -> Vec<SimulatedJob> {
        (0..self.jobs.len()).map(|job| self.report(now, job)).collect()
    }

    /// The latest 10,000 attempts, oldest first.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.attempts.all()
    }

    /// Returns the latest attempts, oldest first, and removes them.
    pub fn drain_attempts(&mut self) -> Vec<Attempt> {
        self.attempts.drain()
    }

    /// Returns the latest calls of the API, oldest first, and removes them. As many are kept as attempts.
    pub fn drain_calls(&mut self) -> Vec<Call> {
        self.latest_calls.drain()
    }

    /// The remaining credits of a key.
    #[must_use]
    pub fn credits(&self, api_key: &str) -> Option<u64> {
        self.keys.get(api_key).map(|&account| self.accounts[account].credits)
    }

    /// Replaces the rules for faults. Deliveries that are scheduled keep their faults.
    pub fn set_faults(&mut self, faults: Vec<Rule>) {
        self.plan.replace(faults);
    }

    pub(crate) fn timetable(&self, job: usize) -> Timetable {
        Timetable::draw(self.seed, job as u64, &self.generation)
    }

    pub(crate) fn report(&self, now: Duration, job: usize) -> SimulatedJob {
        let (record, timetable) = (&self.jobs[job], self.timetable(job));
        SimulatedJob {
            job_id: self.ids.id(job),
            topic: record.topic.to_string(),
            state: record.state(now, &timetable),
            ordered_at: record.ordered_at,
            ends_at: record.ends_at(&timetable),
        }
    }

    pub(crate) fn recipe(&self, job: usize) -> Recipe {
        let record = &self.jobs[job];
        let mut random = draw(self.seed, &[ARTICLE, job as u64]);
        Recipe {
            seed: random.u64(..),
            job_id: self.ids.id(job),
            topic: record.topic.clone(),
            html_bytes: record
                .html_bytes
                .unwrap_or_else(|| random.usize(DRAWN_WORDS) * BYTES_PER_WORD),
            credits_used: record.price,
            image_base: self.image_base.clone(),
        }
    }
}

/// Without keys and tokens.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (jobs, next_due) = (self.jobs.len(), self.next_due());
        f.debug_struct("Service")
            .field("jobs", &jobs)
            .field("next_due", &next_due)
            .finish_non_exhaustive()
    }
}
