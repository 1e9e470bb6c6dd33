mod report;

use std::{
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU32},
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Error, Inbox,
    store::{BucketEvent, BucketSettings, Store},
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep},
};

use crate::{api::Api, call_start::CallStart, classify::KeyWatch, settings::Settings, telemetry};

pub(crate) use report::Report;

/// The first and the longest pause before a call of the store is repeated.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(30)];

/// No call may take longer, whatever the client says.
const MAX_CALL_TIME: Duration = Duration::from_secs(3600);

/// A token that is not used within this time is lost. A process that was suspended after it took one would otherwise call
/// beside the tokens that the bucket has given out since, or in a pause that came since.
pub(crate) const TOKEN_VALIDITY: Duration = Duration::from_secs(5);

/// How often a lasting condition is logged.
const MINUTE: Duration = Duration::from_secs(60);

/// How often a loop looks for jobs that another process expects.
pub(crate) const CLAIM_INTERVAL: Duration = Duration::from_secs(10);

/// What the clones of a collector share.
pub(crate) struct Shared {
    pub(crate) inbox: Inbox,
    /// The store of the inbox.
    pub(crate) ledger: Arc<dyn Store>,
    pub(crate) api: Arc<dyn Api>,
    pub(crate) settings: Settings,
    /// Notified when a job may be due earlier than was known.
    pub(crate) wake: Notify,
    /// How many loops poll.
    pub(crate) running: AtomicU32,
    /// How many orders are under way.
    pub(crate) orders: watch::Sender<u32>,
    key_watch: Mutex<KeyWatch>,
    /// The pause that the service asked for last or that lasts longest, until it is stored.
    unstored: Mutex<Option<Report>>,
    /// When it was logged last that a token came too late.
    lost_token: Mutex<Option<Instant>>,
}

impl Shared {
    pub(crate) fn new(inbox: Inbox, api: Arc<dyn Api>, settings: Settings) -> Self {
        Self {
            ledger: inbox.ledger(),
            inbox,
            api,
            settings,
            wake: Notify::new(),
            running: AtomicU32::new(0),
            orders: watch::Sender::new(0),
            key_watch: Mutex::default(),
            unstored: Mutex::default(),
            lost_token: Mutex::default(),
        }
    }

    /// A call begins now.
    pub(crate) fn began(&self) -> CallStart {
        CallStart { instant: Instant::now(), store_time: self.ledger.now() }
    }

    pub(crate) fn bucket(&self) -> BucketSettings {
        let Settings { per_minute, burst, .. } = self.settings;
        BucketSettings { per_minute, burst, key: self.api.key_fingerprint() }
    }

    /// When a call is dropped: after the client would have ended it.
    pub(crate) fn call_limit(&self) -> Duration {
        self.api.timeout().min(MAX_CALL_TIME) + Duration::from_secs(1)
    }

    /// When a job that is expected from now on is polled first.
    pub(crate) fn first_poll(&self) -> SystemTime {
        self.ledger.now() + self.settings.schedule.first()
    }

    /// Wakes a loop because a job was expected, if the job is due before the next claim of the loop.
    pub(crate) fn wake_for_new_job(&self) {
        if self.settings.schedule.first() < CLAIM_INTERVAL {
            self.wake.notify_one();
        }
    }

    /// An answer says this about the bucket. Until a pause is stored, this process polls and orders nothing in it.
    pub(crate) fn answered(&self, event: BucketEvent) -> Report {
        match event {
            BucketEvent::KeyRefused { .. } => telemetry::key_refused(),
            BucketEvent::RateLimited { retry_after } => telemetry::rate_limited(retry_after),
            BucketEvent::Unavailable { retry_after } => telemetry::unavailable(retry_after),
            BucketEvent::KeyAccepted { .. } | BucketEvent::Resumed => {}
        }
        let report = Report::new(event);
        let mut unstored = self.unstored();
        if unstored.and_then(|known| known.left()) < report.left() {
            *unstored = Some(report);
        }
        report
    }

    /// Stores what an answer reported about the bucket. It is tried again until `is_late`.
    pub(crate) async fn report(
        &self,
        report: Report,
        is_late: impl Fn() -> bool,
    ) -> Result<(), Error> {
        repeat("report", is_late, || self.store_report(report)).await
    }

    /// Stores the pause that the store does not have yet, if there is one. Nothing is polled or ordered before that.
    pub(crate) async fn store_pause(&self) -> Result<(), Error> {
        match self.unstored_pause() {
            Some(report) => self.store_report(report).await,
            None => Ok(()),
        }
    }

    /// The pause that is not stored yet, unless it is over.
    pub(crate) fn unstored_pause(&self) -> Option<Report> {
        self.unstored().filter(|report| report.left().is_some())
    }

    /// A person lifted the pause.
    pub(crate) fn resumed(&self) {
        *self.unstored() = None;
    }

    async fn store_report(&self, report: Report) -> Result<(), Error> {
        self.ledger.report(report.event()).await?;
        _ = self.unstored().take_if(|unstored| *unstored == report);
        Ok(())
    }

    /// A token came too late. It is logged once a minute.
    pub(crate) fn token_lost(&self) {
        telemetry::token_lost();
        let mut logged = self.lost_token.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_none_or(|logged| logged.elapsed() >= MINUTE) {
            *logged = Some(Instant::now());
            telemetry::tokens_are_lost();
        }
    }

    fn unstored(&self) -> MutexGuard<'_, Option<Report>> {
        self.unstored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn key_watch(&self) -> MutexGuard<'_, KeyWatch> {
        self.key_watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an order holds while it is under way.
pub(crate) struct OrderUnderWay(Arc<Shared>);

impl OrderUnderWay {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        shared.orders.send_modify(|orders| *orders += 1);
        Self(Arc::clone(shared))
    }

    /// The order has ended, and something is left to be stored.
    pub(crate) fn end(self) -> Arc<Shared> {
        Arc::clone(&self.0)
    }
}

impl Deref for OrderUnderWay {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for OrderUnderWay {
    fn drop(&mut self) {
        self.0.orders.send_modify(|orders| *orders -= 1);
    }
}

/// Whether a call of the store that failed like this may succeed later. Damage is repaired while the store is open, or
/// concerns one entry.
pub(crate) fn may_pass(error: &Error) -> bool {
    error.is_transient() || error.is_damaged()
}

/// Makes a call of the store until it succeeds. It gives up when no repetition can succeed, or `is_late`.
pub(crate) async fn repeat<T, F>(
    name: &'static str,
    is_late: impl Fn() -> bool,
    call: impl Fn() -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let [mut pause, longest] = RETRY_PAUSES;
    loop {
        let error = match call().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        telemetry::store_failed(name, &error);
        if !may_pass(&error) || is_late() {
            return Err(error);
        }
        sleep(pause).await;
        pause = longest.min(pause * 2);
    }
}
