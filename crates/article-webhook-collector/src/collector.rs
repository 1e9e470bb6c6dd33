//! What an application holds.

mod backfill;
mod builder;
mod health;

use std::{fmt, sync::Arc};

use article_webhook_client::{JobId, NewArticle};
use article_webhook_inbox::{
    Error, Inbox, Intent, IntentState, JobState, Page,
    store::{BucketEvent, Expect},
};
use tokio::{join, select};

use crate::{
    api::Api,
    order::{self, Attempt, OrderOutcome},
    polling::EventLoop,
    settings::Settings,
    shared::Shared,
    telemetry,
};

pub use backfill::{BackfillPlan, BackfillStopped, Backfilled};
pub use builder::CollectorBuilder;
pub use health::CollectorHealth;

/// Orders articles, remembers which are expected, and polls the API for those that do not come. Clones share the
/// collector.
///
/// It keeps everything in the store of an inbox, and what it orders survives a crash if that store does. Several
/// collectors may share a store: in one process, and in several if the store allows that. A SQLite store belongs to one
/// process. An article that it collects is stored as a delivery is, and the worker of the inbox runs the same
/// handler, at once. [`Inbox::jobs`] shows the jobs.
///
/// ```
/// use article_webhook_client::{ApiKey, Client, NewArticle};
/// use article_webhook_collector::{Collector, OrderOutcome};
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     // Nothing listens on port 1, so nothing is ordered.
///     let client = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://127.0.0.1:1")?;
///     let collector = Collector::new(&Inbox::memory(), client);
///     let outcome = collector.order("post-17", &NewArticle::new("How to choose running shoes")).await?;
///     assert!(matches!(outcome, OrderOutcome::Refused(_)), "certainly not ordered");
///
///     let error = collector.order("post 17", &NewArticle::new("Shoes")).await.unwrap_err();
///     assert_eq!(error.to_string(), "an intent is 1 to 64 ASCII letters, digits, `-` or `_`");
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Collector(Arc<Shared>);

impl Collector {
    /// A collector with the default settings of [`builder`](Self::builder).
    #[must_use]
    pub fn new(inbox: &Inbox, api: impl Api) -> Self {
        Self::with(inbox.clone(), Arc::new(api), Settings::default())
    }

    /// Settings for a collector.
    pub fn builder(inbox: &Inbox, api: impl Api) -> CollectorBuilder {
        CollectorBuilder::new(inbox.clone(), Arc::new(api))
    }

    pub(crate) fn with(inbox: Inbox, api: Arc<dyn Api>, settings: Settings) -> Self {
        Self(Arc::new(Shared::new(inbox, api, settings)))
    }

    /// Orders an article under the application's own key of the order, its *intent*: 1 to 64 ASCII letters, digits,
    /// `-` or `_`. The same intent never orders twice.
    ///
    /// The intent is stored before the call is made, and the call is made once. If the answer is lost, the outcome is
    /// [unknown](OrderOutcome::Unknown), and other orders of the intent return this from then on. If the process dies
    /// before the end of the call is stored, they return it from the deadline of the call on, which is 6 seconds more
    /// than its time limit, and that it is [in progress](OrderOutcome::InProgress) before. With [webhook
    /// URLs](CollectorBuilder::webhook_urls) an unknown order resolves itself when its article arrives.
    ///
    /// An order takes no token of the [rate](CollectorBuilder::rate), which limits polls alone. A pause holds orders too.
    ///
    /// All of this is done in a task of its own, which begins when this future is polled first. It goes on when the future
    /// is dropped, and another order of the intent returns what became of it. If the service took the order and the store
    /// fails to keep the job, the outcome is [`Ordered`](OrderOutcome::Ordered) all the same, the
    /// job id is logged, and the store is tried again until it succeeds. At a shutdown, [`run`](Self::run) waits for
    /// that task, for as long as its grace period lasts. Nothing but its caller waits for an order that is placed later.
    ///
    /// # Errors
    ///
    /// The intent is not valid, or the store failed or took longer than 5 seconds to keep it: then nothing was ordered. A
    /// store that failed may have kept the intent all the same, whose outcome is then unknown after its deadline.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub async fn order(&self, intent: &str, article: &NewArticle) -> Result<OrderOutcome, Error> {
        order::order(&self.0, Attempt::First, intent, article).await
    }

    /// Orders an article under an intent whose outcome is unknown, or that was abandoned. The earlier call may have
    /// ordered as well: then both articles are made, and both are accepted. An intent that is not known is
    /// [ordered](Self::order) for the first time. One whose order is known to have been taken is not ordered [once
    /// more](OrderOutcome::OrderedBefore), nor is one whose last call is still [in
    /// progress](OrderOutcome::InProgress).
    ///
    /// # Errors
    ///
    /// As [`order`](Self::order).
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub async fn order_again(
        &self,
        intent: &str,
        article: &NewArticle,
    ) -> Result<OrderOutcome, Error> {
        order::order(&self.0, Attempt::Again, intent, article).await
    }

    /// Gives up an intent whose outcome is unknown. `false` for any other: then nothing changes. If its article
    /// arrives, it is accepted.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn abandon(&self, intent: &str) -> Result<bool, Error> {
        self.0.ledger.abandon(intent).await
    }

    /// Expects a job that was ordered elsewhere. Its article may have come before. A job that failed, is unreadable
    /// or was not found is opened again.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn expect(&self, job_id: JobId) -> Result<JobState, Error> {
        let expect = Expect::job(job_id, self.0.first_poll());
        let states = self.0.ledger.expect(vec![expect]).await?;
        self.0.wake_for_new_job();
        states
            .first()
            .copied()
            .ok_or_else(|| Error::unusable("the store named no state of the job"))
    }

    /// Expects many old jobs. They are due one after the other, at the [rate](CollectorBuilder::rate), so that no other job
    /// waits for all of them. The same ids again change nothing: a job that has ended stays as it is, also one that failed, is
    /// unreadable or was not found.
    ///
    /// # Errors
    ///
    /// The store failed. The error says how many ids are expected.
    pub async fn expect_all(
        &self,
        ids: impl IntoIterator<Item = JobId, IntoIter: Send>,
    ) -> Result<Backfilled, BackfillStopped> {
        backfill::expect_all(&self.0, ids.into_iter()).await
    }

    /// What [`expect_all`](Self::expect_all) would do. Nothing changes.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn plan(
        &self,
        ids: impl IntoIterator<Item = JobId, IntoIter: Send>,
    ) -> Result<BackfillPlan, Error> {
        backfill::plan(&self.0, ids.into_iter()).await
    }

    /// A page of the intents in this state, or of all, by ascending id: at most a hundred with a greater id than
    /// `after`, which is 0 or the [`next`](Page::next) of the last page.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
    ) -> Result<Page<Intent>, Error> {
        self.0.ledger.intents(state, after, 100).await
    }

    /// The figures that an operator watches. With the feature `metrics` they go to the recorder, too.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn health(&self) -> Result<CollectorHealth, Error> {
        health::health(&self.0).await
    }

    /// Lifts the pause, for instance after the service accepts the API key again.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn resume(&self) -> Result<(), Error> {
        self.0.ledger.report(BucketEvent::Resumed).await?;
        self.0.resumed();
        self.0.wake.notify_one();
        Ok(())
    }

    /// Polls the jobs that are due, until `shutdown` resolves. Then it polls nothing more, releases what it
    /// claimed, and gives the calls that are under way a [grace](CollectorBuilder::shutdown_grace) period. Any number
    /// of loops may run beside each other: in this process, and in others if they can share the store.
    ///
    /// Within the grace period it also waits for the [orders](Self::order) of this collector and its clones, until
    /// their jobs are stored. So stop what places orders, wait for this, and only then [close](Inbox::close) the inbox
    /// and end the runtime: the outcome of an order that is cut off is unknown, and it may be paid for.
    ///
    /// The log gets the figures of [`health`](Self::health) every hour and at the end.
    ///
    /// While the store fails temporarily, or is damaged, it goes on trying. Run it in a task of its own, as the
    /// worker: its end must not end the receiver.
    ///
    /// # Errors
    ///
    /// The inbox is closed, or its store cannot be used until an operator changes something.
    pub async fn run(self, shutdown: impl Future) -> Result<(), Error> {
        let shared = Arc::clone(&self.0);
        let logging = async {
            join!(order::report_unknown_orders(&shared), health::summarize_hourly(&shared));
        };
        let ended = select! {
            biased;
            ended = EventLoop::new(self.0).run(shutdown) => ended,
            () = logging => unreachable!("the figures are logged for ever"),
        };
        health::summarize(&shared).await;
        ended.inspect_err(telemetry::collector_failed)
    }

    /// Polls what is due and may be polled now, until nothing is. A job whose time has not come, or for which
    /// there is no token, stays. For tests, and for programs that are started from time to time.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run). While the store fails temporarily, it goes on trying.
    pub async fn run_until_idle(&self) -> Result<(), Error> {
        EventLoop::new(Arc::clone(&self.0)).until_idle().run(std::future::pending::<()>()).await
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector")
            .field("inbox", &self.0.inbox)
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}
