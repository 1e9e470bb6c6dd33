use std::{fmt, pin::Pin, sync::Arc};

use crate::{
    answer::{Refused, Reply},
    receiver::Delivery,
};

/// Receives accepted deliveries. A store, a queue and an inbox are sinks.
///
/// A function or closure that takes a delivery and returns a future is a sink, and so is an `Arc` of a
/// sink. The adapters' `receive` mounts a sink. It runs the sink in a task of its own, so that a sender
/// that disconnects cannot stop the work halfway, and answers the service with the sink's [`Reply`].
///
/// ```
/// use std::{collections::HashSet, sync::{Arc, Mutex}};
/// use article_webhook::{Delivery, Reply, Sink};
///
/// fn a_sink(_: &impl Sink) {}
///
/// let seen = Arc::new(Mutex::new(HashSet::new()));
/// a_sink(&move |delivery: Delivery| {
///     let seen = Arc::clone(&seen);
///     async move {
///         match seen.lock().map(|mut seen| seen.insert(delivery.job_id().clone())) {
///             Ok(true) => Reply::Stored,
///             Ok(false) => Reply::Duplicate,
///             Err(_poisoned) => Reply::Unavailable,
///         }
///     }
/// });
/// ```
pub trait Sink: Send + Sync {
    /// Takes a delivery and returns the outcome. [`Reply::Stored`] is a promise: return it only after
    /// the delivery is stored so that it survives a crash.
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send;

    /// Called for each authentic delivery that was refused, with the job if it is known, so that the
    /// application can fetch the article from the API later. Must not block. Does nothing by default.
    fn refused(&self, refused: &Refused) {
        let _ = refused;
    }

    /// Called in place of [`refused`](Self::refused), and waited for before the answer is sent, if the refusal has its
    /// [body](Refused::body): it may be the only copy of an article. The answer stays the refusal, so that the service
    /// delivers again. Calls [`refused`](Self::refused) by default.
    fn keep_refused(&self, refused: Refused) -> impl Future<Output = ()> + Send {
        async move { self.refused(&refused) }
    }

    /// This sink as a [`BoxSink`], so that sinks of several types have one: to choose one at run time, or to keep it
    /// in a struct without a type parameter.
    fn boxed(self) -> BoxSink
    where
        Self: Sized + 'static,
    {
        BoxSink(Arc::new(self))
    }
}

impl<F, Fut> Sink for F
where
    F: Fn(Delivery) -> Fut + Send + Sync,
    Fut: Future<Output = Reply> + Send,
{
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send {
        self(delivery)
    }
}

impl<S: Sink> Sink for Arc<S> {
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send {
        S::accept(self, delivery)
    }

    fn refused(&self, refused: &Refused) {
        S::refused(self, refused);
    }

    fn keep_refused(&self, refused: Refused) -> impl Future<Output = ()> + Send {
        S::keep_refused(self, refused)
    }
}

/// A sink whose type is hidden, made by [`Sink::boxed`]. Clones share the sink.
///
/// ```
/// use article_webhook::{BoxSink, Delivery, Reply, Sink};
///
/// /// Stores deliveries in the application's database.
/// struct Articles(Database);
/// # struct Database;
/// # impl Database { async fn insert(&self, _: &Delivery) -> std::io::Result<()> { Ok(()) } }
///
/// impl Sink for Articles {
///     async fn accept(&self, delivery: Delivery) -> Reply {
///         match self.0.insert(&delivery).await {
///             Ok(()) => Reply::Stored,
///             Err(error) => Reply::retry_because(&error),
///         }
///     }
/// }
///
/// /// Prints deliveries, to try things out.
/// async fn print(delivery: Delivery) -> Reply {
///     println!("{}: {} bytes", delivery.job_id(), delivery.body().len());
///     Reply::Ignored
/// }
///
/// fn sink(setting: &str, database: Database) -> Result<BoxSink, String> {
///     match setting {
///         "database" => Ok(Articles(database).boxed()),
///         "print" => Ok(print.boxed()),
///         other => Err(format!("the sink is `{other}`: set it to `database` or `print`")),
///     }
/// }
///
/// assert!(sink("print", Database).is_ok());
/// assert_eq!(sink("disk", Database).unwrap_err(), "the sink is `disk`: set it to `database` or `print`");
/// ```
#[derive(Clone)]
pub struct BoxSink(Arc<dyn DynSink>);

impl Sink for BoxSink {
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send {
        self.0.accept_boxed(delivery)
    }

    fn refused(&self, refused: &Refused) {
        self.0.refused_boxed(refused);
    }

    fn keep_refused(&self, refused: Refused) -> impl Future<Output = ()> + Send {
        self.0.keep_refused_boxed(refused)
    }

    fn boxed(self) -> BoxSink {
        self
    }
}

impl fmt::Debug for BoxSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxSink").finish_non_exhaustive()
    }
}

/// [`Sink`] with a future whose type is hidden.
trait DynSink: Send + Sync {
    fn accept_boxed(&self, delivery: Delivery) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>>;

    fn refused_boxed(&self, refused: &Refused);

    fn keep_refused_boxed(&self, refused: Refused)
    -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl<S: Sink> DynSink for S {
    fn accept_boxed(&self, delivery: Delivery) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        Box::pin(self.accept(delivery))
    }

    fn refused_boxed(&self, refused: &Refused) {
        self.refused(refused);
    }

    fn keep_refused_boxed(
        &self,
        refused: Refused,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.keep_refused(refused))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::Mutex,
        task::{Context, Poll, Waker},
    };

    use super::*;
    use crate::{
        answer::{Rejection, UnreadBody},
        receiver::sample::{BODY, HEADERS, receiver},
    };

    #[test]
    fn a_boxed_sink_passes_deliveries_and_refusals_on() {
        #[derive(Default)]
        struct Heard(Mutex<Vec<String>>);

        impl Sink for Heard {
            async fn accept(&self, delivery: Delivery) -> Reply {
                self.0.lock().unwrap().push(delivery.job_id().to_string());
                Reply::Duplicate
            }

            fn refused(&self, refused: &Refused) {
                self.0.lock().unwrap().push(refused.to_string());
            }

            async fn keep_refused(&self, refused: Refused) {
                self.0.lock().unwrap().push(format!("kept: {refused}"));
            }
        }

        let receiver = receiver();
        let heard = Arc::new(Heard::default());
        let sinks: [BoxSink; 2] =
            [Arc::clone(&heard).boxed().boxed(), (async |_: Delivery| Reply::Stored).boxed()];
        let replies = sinks.map(|sink| {
            let delivery = receiver.open(&HEADERS).unwrap().read(BODY);
            let accepted = pin!(sink.accept(delivery.unwrap()));
            let Poll::Ready(reply) = accepted.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("the sink is pending");
            };
            let refused = Refused::new(Rejection::Incomplete, None, UnreadBody::None);
            sink.refused(&refused);
            let kept = pin!(sink.keep_refused(refused));
            assert!(kept.poll(&mut Context::from_waker(Waker::noop())).is_ready());
            reply
        });
        assert_eq!(replies, [Reply::Duplicate, Reply::Stored]);
        let expected = ["job_1", "the body ended early", "kept: the body ended early"];
        assert_eq!(*heard.0.lock().unwrap(), expected);
    }
}
