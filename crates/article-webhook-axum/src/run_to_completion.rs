use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use article_webhook::{Receiver, adapter::RunSlot};
use axum_core::{extract::Request, response::Response};
use tokio::{
    task,
    time::{Instant, sleep},
};
use tower_layer::Layer;
use tower_service::Service;

use crate::response::response;

/// Runs the handler of a delivery to its end, and once at a time for each job.
#[derive(Debug, Clone)]
pub struct RunToCompletion {
    receiver: Receiver,
}

impl RunToCompletion {
    /// A layer for the handlers that receive with this receiver or a clone of it.
    #[must_use]
    pub fn new(receiver: Receiver) -> Self {
        Self { receiver }
    }
}

impl<S> Layer<S> for RunToCompletion {
    type Service = RunToCompletionService<S>;

    fn layer(&self, inner: S) -> RunToCompletionService<S> {
        RunToCompletionService { receiver: self.receiver.clone(), inner }
    }
}

/// The service that a [`RunToCompletion`] makes from the inner service.
#[derive(Debug, Clone)]
pub struct RunToCompletionService<S> {
    receiver: Receiver,
    inner: S,
}

impl<S> Service<Request> for RunToCompletionService<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    /// Always ready: the inner service is waited for in the task.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let clock = || Instant::now().into_std();
        let slot = RunSlot::new(&self.receiver, request.uri().path(), clock);
        request.extensions_mut().insert(slot.clone());
        let mut inner = self.inner.clone();
        let inner = async move {
            poll_fn(|context| inner.poll_ready(context)).await?;
            inner.call(request).await
        };
        let status = |result: &Result<Response, _>| {
            result.as_ref().ok().map(|response| response.status().as_u16())
        };
        Box::pin(async move {
            // hyper drops this future when the sender disconnects. A handler that runs continues.
            let supervised = slot.supervise(inner, status, task::spawn, sleep).await;
            supervised.unwrap_or_else(|answer| Ok(response(answer)))
        })
    }
}
