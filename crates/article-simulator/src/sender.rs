mod body;
mod cut;
mod socket;

use std::{pin::Pin, sync::Arc};

pub(crate) use socket::SocketSender;

use crate::{Outcome, Push};

/// An attempt that is being carried out.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Carries attempts out. The simulator's own sends them over sockets; one without sockets makes a whole day of
/// deliveries a matter of milliseconds.
///
/// ```
/// use article_simulator::{Outcome, Push, Sender, Sending};
///
/// /// Takes what carries the token, and looks at nothing else.
/// struct Lenient;
///
/// impl Sender for Lenient {
///     fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
///         let token = push.request().headers().get("authorization").cloned();
///         let status = if token.is_some_and(|token| token == "Bearer secret") { 200 } else { 401 };
///         Box::pin(async move { Outcome::status(status) })
///     }
/// }
/// ```
pub trait Sender: Send + Sync + 'static {
    /// Carries one attempt out, however it ends.
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a>;
}

impl<S: Sender + ?Sized> Sender for Arc<S> {
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
        (**self).send(push)
    }
}
