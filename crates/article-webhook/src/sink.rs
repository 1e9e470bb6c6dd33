use std::{future::Future, sync::Arc};

use crate::{Delivery, Refused, Reply};

/// Where deliveries go that were let in: a store, a queue, an inbox.
///
/// A function or closure that takes a delivery and returns a future is a sink; so is an `Arc` of one.
/// What the closure captures, each future gets a clone of. The adapters' `receive` mounts a sink and
/// answers the service with its [`Reply`], in a task of its own, so that a sender who hangs up cannot
/// cut the work in half.
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
    /// Takes a delivery and says what became of it. [`Reply::Stored`] is a promise: say it only
    /// once the delivery would survive a crash.
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send;

    /// Hears of every authentic delivery that was refused, with the job as far as it is known: a
    /// reason to ask the API for it later. Must not block. Does nothing by default.
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
    use crate::{Rejection, drain::Leftover};

    #[test]
    fn what_an_arc_is_told_its_sink_is_told() {
        struct Hints(Mutex<Vec<Refused>>);

        impl Sink for Hints {
            async fn accept(&self, _: Delivery) -> Reply {
                Reply::Stored
            }

            fn refused(&self, refused: &Refused) {
                self.0.lock().unwrap().push(refused.clone());
            }
        }

        let hints = Arc::new(Hints(Mutex::default()));
        let refused = Refused::new(Rejection::Incomplete, None, Leftover::Nothing);
        refused.report_to(&hints);
        assert_eq!(*hints.0.lock().unwrap(), [refused]);
    }
}
