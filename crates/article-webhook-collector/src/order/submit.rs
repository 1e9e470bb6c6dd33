use std::{sync::Arc, time::Duration};

use article_webhook_client::{CallOutcome, Created, JobId, NewArticle};
use article_webhook_inbox::{
    Error, Intent, Topic,
    store::{BucketEvent, Intended, IntentLease},
};
use tokio::{sync::oneshot, time::timeout};

use super::OrderOutcome;
use crate::{
    call_start::CallStart,
    catch_panic::catch_panic,
    classify::{accepts_the_key, pause_of},
    shared::{OrderUnderWay, Report, Shared, TOKEN_VALIDITY, repeat},
    telemetry,
};

/// Whether an intent was given up or has an unknown outcome, and is ordered all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    Again,
}

/// How long after its intent was stored the call of an order may last.
pub(super) fn within(shared: &Shared) -> Duration {
    TOKEN_VALIDITY + shared.call_limit()
}

/// Orders an article, in a task of its own, which goes on when this future is dropped.
pub(crate) async fn order(
    shared: &Arc<Shared>,
    attempt: Attempt,
    intent: &str,
    article: &NewArticle,
) -> Result<OrderOutcome, Error> {
    Intent::check_name(intent)?;
    let under_way = OrderUnderWay::new(shared);
    let (intent, article) = (intent.into(), article.clone());
    let key = shared.api.key_fingerprint();
    let order = Order { shared: under_way, attempt, intent, article, key };
    let (reply, replied) = oneshot::channel();
    tokio::spawn(order.run(Reply(Some(reply))));
    // The task panicked, or its runtime ends: whether the call was made is not known.
    let unknown = |_| Ok(OrderOutcome::Unknown { since: shared.ledger.now(), cause: None });
    replied.await.unwrap_or_else(unknown)
}

struct Order {
    shared: OrderUnderWay,
    attempt: Attempt,
    intent: Box<str>,
    article: NewArticle,
    /// The API key of the call, by its fingerprint.
    key: u64,
}

/// The result for the caller, sent once.
struct Reply(Option<oneshot::Sender<Result<OrderOutcome, Error>>>);

impl Reply {
    fn send(&mut self, outcome: Result<OrderOutcome, Error>) {
        telemetry::order_ended(outcome.as_ref().map_or("unavailable", OrderOutcome::name));
        // A caller that is gone needs no result.
        _ = self.0.take().map(|reply| reply.send(outcome));
    }
}

/// What the ledger returned for the intent.
enum Begun {
    /// One call may be made. It began to be stored then.
    Call { lease: IntentLease, began: CallStart },
    /// None may.
    Ended(OrderOutcome),
}

/// What the store must note after the call.
enum Note {
    Ordered(JobId),
    NotOrdered(IntentLease),
    OutcomeLost(IntentLease),
}

impl Note {
    /// The name of the call in metrics and logs.
    fn name(&self) -> &'static str {
        match self {
            Self::Ordered(_) => "ordered",
            Self::NotOrdered(_) => "not_ordered",
            Self::OutcomeLost(_) => "outcome_lost",
        }
    }
}

impl Order {
    async fn run(self, mut reply: Reply) {
        let (lease, began) = match self.begin().await {
            Ok(Begun::Call { lease, began }) => (lease, began),
            Ok(Begun::Ended(outcome)) => return reply.send(Ok(outcome)),
            Err(error) => return reply.send(Err(error)),
        };
        let (outcome, note, event) = match self.article(began) {
            Ok(article) => self.call(lease, &article).await,
            Err(outcome) => (outcome, Note::NotOrdered(lease), None),
        };
        let report = event.map(|event| self.shared.answered(event));
        // The order is noted first: it is paid for.
        let noted = self.note(&note).await;
        let deadline = began.store_time + within(&self.shared);
        let is_late = || deadline <= self.shared.ledger.now();
        let reported = if let Err(error) = &noted {
            if let Note::Ordered(job_id) = &note {
                telemetry::order_not_noted(job_id, error);
            }
            // The caller does not wait for a store that fails.
            reply.send(outcome);
            let reported = self.report(report, is_late).await;
            // From the deadline on, the outcome is unknown in any case.
            let is_unknown = || matches!(note, Note::OutcomeLost(_)) && is_late();
            // An intent that is not removed stays unknown.
            _ = repeat(note.name(), is_unknown, || self.note(&note)).await;
            reported
        } else {
            // The next order of the caller finds the pause, if the store works.
            let reported = self.report(report, || true).await;
            reply.send(outcome);
            match reported {
                Ok(()) => Ok(()),
                Err(_) => self.report(report, is_late).await,
            }
        };
        if let (Err(_), Some(report)) = (reported, report) {
            let shared = self.shared.end();
            _ = shared.report(report, || report.left().is_none()).await;
        }
    }

    /// Stores the intent, unless it is known or nothing may be ordered now.
    async fn begin(&self) -> Result<Begun, Error> {
        let Shared { ledger, .. } = &*self.shared;
        self.shared.store_pause().await?;
        let within = within(&self.shared);
        // The store counts from a later time.
        let began = self.shared.began();
        let topic = self.article.topic().and_then(Topic::of);
        let intended = match self.attempt {
            Attempt::First => ledger.intend(&self.intent, within, self.key, topic).await?,
            Attempt::Again => ledger.order_again(&self.intent, within, self.key, topic).await?,
        };
        Ok(match intended {
            Intended::Begun(lease) => Begun::Call { lease, began },
            Intended::Known(intent) => Begun::Ended(OrderOutcome::of_known(intent)),
            Intended::Paused(pause) => Begun::Ended(OrderOutcome::Paused(pause)),
        })
    }

    /// The order as it is sent, if the intent was stored in time, so that no pause came since and the call ends before the
    /// deadline: after that, the intent may be ordered again. `began` is when the intent began to be stored.
    fn article(&self, began: CallStart) -> Result<NewArticle, Result<OrderOutcome, Error>> {
        let now = self.shared.began();
        // If the clock was set back since then, how long that took is not known.
        if began.store_time + TOKEN_VALIDITY < now.store_time || now.is_set_back_since(began) {
            let message = "the store took too long to keep the intent, and nothing was ordered";
            return Err(Err(Error::unavailable(message)));
        }
        let pause = self.shared.unstored_pause().and_then(|report| report.pause(now.store_time));
        if let Some(pause) = pause {
            return Err(Ok(OrderOutcome::Paused(pause)));
        }
        let article = self.article.clone();
        match &self.shared.settings.urls {
            Some(urls) => {
                let url = urls.url(&self.intent, now.store_time).map_err(Err)?;
                Ok(article.webhook_url(&url))
            }
            None => Ok(article),
        }
    }

    /// Makes the call, once.
    async fn call(
        &self,
        lease: IntentLease,
        article: &NewArticle,
    ) -> (Result<OrderOutcome, Error>, Note, Option<BucketEvent>) {
        let call = catch_panic(async { self.shared.api.create(article).await });
        let call = timeout(self.shared.call_limit(), call);
        let unknown = |cause: Option<article_webhook_client::Error>| {
            match &cause {
                Some(cause) => telemetry::order_unknown(cause),
                None => telemetry::order_unknown(&"the call panicked, or took too long"),
            }
            Ok(OrderOutcome::Unknown { since: self.shared.ledger.now(), cause })
        };
        let error = match call.await {
            Ok(Ok(Ok(Created { job_id, .. }))) => {
                telemetry::ordered(&job_id);
                return (Ok(OrderOutcome::Ordered(job_id.clone())), Note::Ordered(job_id), None);
            }
            Ok(Ok(Err(error))) => error,
            Ok(Err(_)) | Err(_) => return (unknown(None), Note::OutcomeLost(lease), None),
        };
        let is_accepted = error.response().is_some_and(accepts_the_key);
        let event = error.response().and_then(|response| match response.outcome {
            _ if is_accepted => Some(BucketEvent::KeyAccepted { key: self.key }),
            CallOutcome::Unauthorized => Some(BucketEvent::KeyRefused { key: self.key }),
            _ => pause_of(response),
        });
        if error.is_outcome_unknown() {
            (unknown(Some(error)), Note::OutcomeLost(lease), event)
        } else {
            (Ok(OrderOutcome::Refused(error)), Note::NotOrdered(lease), event)
        }
    }

    async fn note(&self, note: &Note) -> Result<(), Error> {
        let ledger = &self.shared.ledger;
        match note {
            Note::Ordered(job_id) => {
                let first_poll = self.shared.first_poll();
                let other =
                    ledger.ordered(&self.intent, job_id.clone(), first_poll, self.key).await?;
                if let Some(other) = other {
                    telemetry::other_job_handled(job_id, &other);
                }
                self.shared.wake_for_new_job();
                Ok(())
            }
            Note::NotOrdered(lease) => {
                let refused = ledger.not_ordered(*lease).await?;
                if let Some(other) = refused.handled {
                    telemetry::article_of_no_order_handled(&other);
                }
                Ok(())
            }
            Note::OutcomeLost(lease) => ledger.outcome_lost(*lease).await.map(drop),
        }
    }

    async fn report(
        &self,
        report: Option<Report>,
        is_late: impl Fn() -> bool,
    ) -> Result<(), Error> {
        match report {
            Some(report) => self.shared.report(report, is_late).await,
            None => Ok(()),
        }
    }
}
