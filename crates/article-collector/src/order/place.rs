use std::{sync::Arc, time::SystemTime};

use article_client::{Created, JobId, NewArticle, Outcome};
use article_inbox::{
    Error, Intent,
    store::{BucketEvent, Intended, IntentLease},
};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use super::OrderOutcome;
use crate::{
    caught::caught,
    meaning::{accepts_the_key, rate_limit_of},
    shared::{OrderUnderWay, Shared, TOKEN_VALID, repeat},
    telemetry,
};

/// Whether an intent was given up or has an unknown outcome, and is ordered all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    Again,
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

/// What the caller is told, once.
struct Reply(Option<oneshot::Sender<Result<OrderOutcome, Error>>>);

impl Reply {
    fn send(&mut self, outcome: Result<OrderOutcome, Error>) {
        telemetry::order_ended(outcome.as_ref().map_or("unavailable", OrderOutcome::name));
        // A caller that is gone need not be told.
        _ = self.0.take().map(|reply| reply.send(outcome));
    }
}

/// What the ledger said about the intent.
enum Begun {
    /// One call may be made before the deadline.
    Call { lease: IntentLease, deadline: SystemTime },
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
        let (lease, deadline) = match self.begin().await {
            Ok(Begun::Call { lease, deadline }) => (lease, deadline),
            Ok(Begun::Ended(outcome)) => return reply.send(Ok(outcome)),
            Err(error) => return reply.send(Err(error)),
        };
        let (outcome, note, event) = match self.article(deadline) {
            Ok(article) => self.call(lease, &article).await,
            Err(error) => (Err(error), Note::NotOrdered(lease), None),
        };
        // The order is noted first: it is paid for.
        let noted = self.note(&note).await;
        let is_late = || deadline <= self.shared.ledger.now();
        if let Err(error) = &noted {
            if let Note::Ordered(job_id) = &note {
                telemetry::order_not_noted(job_id, error);
            }
            // The caller does not wait for a store that fails.
            reply.send(outcome);
            _ = self.report(event, is_late).await;
            // From the deadline on, the outcome is unknown in any case.
            let is_unknown = || matches!(note, Note::OutcomeLost(_)) && is_late();
            // An intent that is not removed stays unknown.
            _ = repeat(note.name(), is_unknown, || self.note(&note)).await;
        } else {
            // The next order of the caller finds the pause, if the store works.
            let reported = self.report(event, || true).await;
            reply.send(outcome);
            if let (Err(_), Some(event)) = (reported, event) {
                _ = repeat("report", is_late, || self.shared.ledger.report(event)).await;
            }
        }
    }

    /// Stores the intent, unless it is known or nothing may be ordered now.
    async fn begin(&self) -> Result<Begun, Error> {
        let Shared { ledger, .. } = &*self.shared;
        let (within, bucket) = (TOKEN_VALID + self.shared.call_limit(), self.shared.bucket());
        // The store counts from a later time.
        let deadline = ledger.now() + within;
        let intended = match self.attempt {
            Attempt::First => ledger.intend(&self.intent, within, bucket).await?,
            Attempt::Again => ledger.order_again(&self.intent, within, bucket).await?,
        };
        Ok(match intended {
            Intended::Begun(lease) => Begun::Call { lease, deadline },
            Intended::Known(intent) => Begun::Ended(OrderOutcome::of_known(intent)),
            Intended::Paused(pause) => Begun::Ended(OrderOutcome::Paused(pause)),
        })
    }

    /// The order as it is sent, if its token is valid and the call ends before the deadline: after that, the intent may be
    /// ordered again.
    fn article(&self, deadline: SystemTime) -> Result<NewArticle, Error> {
        let now = self.shared.ledger.now();
        if now + self.shared.call_limit() > deadline {
            let message = "the store took too long to keep the intent: nothing was ordered";
            return Err(Error::unavailable(message));
        }
        let article = self.article.clone();
        match &self.shared.settings.urls {
            Some(urls) => Ok(article.webhook_url(&urls.url(&self.intent, now)?)),
            None => Ok(article),
        }
    }

    /// Makes the call, once.
    async fn call(
        &self,
        lease: IntentLease,
        article: &NewArticle,
    ) -> (Result<OrderOutcome, Error>, Note, Option<BucketEvent>) {
        let began = Instant::now();
        let call = caught(async { self.shared.api.create(article).await });
        let call = timeout(self.shared.call_limit(), call);
        let unknown = |cause: Option<article_client::Error>| {
            match &cause {
                Some(cause) => telemetry::order_unknown(cause),
                None => telemetry::order_unknown(&"the call panicked, or took too long"),
            }
            Ok(OrderOutcome::Unknown { since: self.shared.ledger.now(), cause })
        };
        let error = match call.await {
            Ok(Ok(Ok(Created { job_id, .. }))) => {
                self.shared.key_watch().accepted(began);
                telemetry::ordered(&job_id);
                return (Ok(OrderOutcome::Ordered(job_id.clone())), Note::Ordered(job_id), None);
            }
            Ok(Ok(Err(error))) => error,
            Ok(Err(_)) | Err(_) => return (unknown(None), Note::OutcomeLost(lease), None),
        };
        let is_accepted = error.response().is_some_and(accepts_the_key);
        if is_accepted {
            self.shared.key_watch().accepted(began);
        }
        let event = error.response().and_then(|response| match response.outcome {
            _ if is_accepted => Some(BucketEvent::KeyAccepted { key: self.key }),
            Outcome::Unauthorized => Some(BucketEvent::KeyRefused { key: self.key }),
            _ => rate_limit_of(response),
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
                let first_ask = self.shared.first_ask();
                ledger.ordered(&self.intent, job_id.clone(), first_ask, self.key).await?;
                self.shared.wake_for_new_job();
                Ok(())
            }
            Note::NotOrdered(lease) => ledger.not_ordered(*lease).await.map(drop),
            Note::OutcomeLost(lease) => ledger.outcome_lost(*lease).await.map(drop),
        }
    }

    async fn report(
        &self,
        event: Option<BucketEvent>,
        is_late: impl Fn() -> bool,
    ) -> Result<(), Error> {
        match event {
            Some(event) => self.shared.report(event, is_late).await,
            None => Ok(()),
        }
    }
}
