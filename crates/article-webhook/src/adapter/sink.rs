use std::sync::Arc;

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
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{
        adapter::report_refusal,
        answer::{Rejection, UnreadBody},
    };

    #[test]
    fn an_arc_passes_refusals_on_to_its_sink() {
        struct Heard(Mutex<Vec<Refused>>);

        impl Sink for Heard {
            async fn accept(&self, _: Delivery) -> Reply {
                Reply::Stored
            }

            fn refused(&self, refused: &Refused) {
                self.0.lock().unwrap().push(refused.clone());
            }
        }

        let heard = Arc::new(Heard(Mutex::default()));
        let refused = Refused::new(Rejection::Incomplete, None, UnreadBody::None);
        report_refusal(&refused, |refused| Sink::refused(&heard, refused));
        assert_eq!(*heard.0.lock().unwrap(), [refused]);
    }
}
