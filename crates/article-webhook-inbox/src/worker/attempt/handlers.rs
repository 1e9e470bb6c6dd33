use std::{pin::Pin, sync::Arc};

use article_webhook::adapter::SeenDrift;

use super::{
    attempt_result::AttemptResult,
    decode::{decode, intact},
};
use crate::{
    call::{Claimed, Events},
    store::Ledger,
    telemetry,
    worker::{Failed, FailedJob, Job, UndecodableJob},
};

/// The application's handlers.
pub(crate) struct Handlers {
    article: Handler<Job>,
    failure: Option<Handler<FailedJob>>,
    undecodable: Option<Handler<UndecodableJob>>,
}

/// A handler for jobs of one kind.
type Handler<J> = Arc<dyn Fn(J) -> Handling + Send + Sync>;

/// A running handler.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;

/// A handler with its job.
pub(super) type BoundHandler = Box<dyn FnOnce() -> Handling + Send>;

impl Handlers {
    pub(crate) fn new<H, F>(article: H) -> Self
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        Self {
            article: Arc::new(move |job| Box::pin(article(job))),
            failure: None,
            undecodable: None,
        }
    }

    pub(crate) fn on_failure<H, F>(&mut self, failure: H)
    where
        H: Fn(FailedJob) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        self.failure = Some(Arc::new(move |job| Box::pin(failure(job))));
    }

    pub(crate) fn on_undecodable<H, F>(&mut self, undecodable: H)
    where
        H: Fn(UndecodableJob) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        self.undecodable = Some(Arc::new(move |job| Box::pin(undecodable(job))));
    }

    /// The handler for the entry, with its job, or why none gets it.
    pub(super) fn bind(
        &self,
        claimed: Claimed,
        store: &Arc<dyn Ledger>,
        drift: &SeenDrift,
    ) -> Result<BoundHandler, AttemptResult> {
        let store = Arc::clone(store);
        if let Some(handler) = self.failure.as_ref().filter(|_| claimed.key.is_failure()) {
            let (handler, body) = (Arc::clone(handler), intact(&claimed)?);
            let job = FailedJob::new(claimed, body, store);
            return Ok(Box::new(move || handler(job)));
        }
        let (body, article, differences) = match (decode(&claimed), &self.undecodable) {
            (Err(AttemptResult::Undecodable { cause, .. }), Some(handler)) => {
                let (handler, body) = (Arc::clone(handler), intact(&claimed)?);
                let job = UndecodableJob::new(claimed, body, cause, store);
                return Ok(Box::new(move || handler(job)));
            }
            (decoded, _) => decoded?,
        };
        telemetry::drift(&differences, drift, &claimed.key);
        let (handler, job) = (Arc::clone(&self.article), Job::new(claimed, body, article, store));
        Ok(Box::new(move || handler(job)))
    }

    /// What the worker claims.
    pub(crate) fn events(&self) -> Events {
        if self.failure.is_some() { Events::All } else { Events::ExceptFailures }
    }
}
