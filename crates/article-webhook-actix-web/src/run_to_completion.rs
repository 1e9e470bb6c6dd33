use std::{
    cell::OnceCell,
    future::{Ready, ready},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use actix_web::{
    Error, HttpMessage, HttpRequest,
    body::{EitherBody, MessageBody},
    dev::{Payload, Service, ServiceRequest, ServiceResponse, Transform},
    rt::{
        spawn,
        time::{Instant, sleep},
    },
};
use article_webhook::{Delivery, Receiver, adapter::RunSlot};

use crate::response::response;

/// Runs the handler of a delivery to its end, and once at a time for each job.
#[derive(Debug, Clone)]
pub struct RunToCompletion {
    receiver: Receiver,
}

impl RunToCompletion {
    /// A middleware for the handlers that receive with this receiver or a clone of it.
    #[must_use]
    pub fn new(receiver: Receiver) -> Self {
        Self { receiver }
    }
}

impl<S, B> Transform<S, ServiceRequest> for RunToCompletion
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = RunToCompletionMiddleware<S>;
    type InitError = ();
    type Future = Ready<Result<Self::Transform, ()>>;

    fn new_transform(&self, inner: S) -> Self::Future {
        ready(Ok(RunToCompletionMiddleware { receiver: self.receiver.clone(), inner }))
    }
}

/// The service that a [`RunToCompletion`] makes from the inner service.
#[derive(Debug)]
pub struct RunToCompletionMiddleware<S> {
    receiver: Receiver,
    inner: S,
}

impl<S, B> Service<ServiceRequest> for RunToCompletionMiddleware<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>>>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let clock = || Instant::now().into_std();
        let slot = RunSlot::new(&self.receiver, request.path(), clock);
        let extracted = Rc::<OnceCell<HttpRequest>>::default();
        let place = Place { slot: slot.clone(), extracted: Rc::clone(&extracted) };
        request.extensions_mut().insert(place);
        let status = |result: &Result<ServiceResponse<B>, Error>| {
            result.as_ref().ok().map(|response| response.status().as_u16())
        };
        let inner = self.inner.call(request);
        Box::pin(async move {
            // actix-web drops this future when the sender resets the connection. A handler that runs continues.
            match slot.supervise(inner, status, spawn, sleep).await {
                Ok(result) => result.map(ServiceResponse::map_into_left_body),
                Err(answer) => {
                    let request = extracted.get().cloned().expect("a delivery was extracted");
                    let response = response(answer, Payload::None).map_into_right_body();
                    Ok(ServiceResponse::new(request, response))
                }
            }
        })
    }
}

/// What the middleware puts into the request's extensions, and an extractor takes out.
struct Place {
    slot: RunSlot,
    /// The request, to respond to. Before it is routed it must have no second owner.
    extracted: Rc<OnceCell<HttpRequest>>,
}

/// Lets the handler run, if the middleware is mounted, once no other runs for the job.
pub(crate) async fn admit(request: HttpRequest, delivery: &Delivery) {
    // Taken, because the request must not own itself.
    let place = request.extensions_mut().remove::<Place>();
    if let Some(Place { slot, extracted }) = place {
        extracted.get_or_init(|| request);
        slot.admit(delivery).await;
    }
}
