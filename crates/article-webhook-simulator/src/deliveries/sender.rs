use std::{pin::Pin, sync::Arc};

use super::{outcome::DeliveryOutcome, push::Push};

/// The future of [`Sender::send`].
pub type Sending<'a> = Pin<Box<dyn Future<Output = DeliveryOutcome> + Send + 'a>>;

/// Sends attempts. The default sender uses sockets. A sender without sockets delivers a simulated day in
/// milliseconds.
///
/// ```
/// use article_webhook_simulator::{DeliveryOutcome, Push, Sender, Sending, StatusCode};
///
/// /// A receiver without sockets that checks the token only.
/// struct Lenient;
///
/// impl Sender for Lenient {
///     fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
///         let token = push.request().headers().get("authorization").cloned();
///         let status = if token.is_some_and(|token| token == "Bearer secret") { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
///         Box::pin(async move { DeliveryOutcome::status(status) })
///     }
/// }
/// ```
pub trait Sender: Send + Sync + 'static {
    /// Sends one attempt, and returns its outcome.
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a>;
}

impl<S: Sender + ?Sized> Sender for Arc<S> {
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
        (**self).send(push)
    }
}
