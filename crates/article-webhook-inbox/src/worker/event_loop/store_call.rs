//! Calls of the store that the event loop has begun, and the times at which it wakes.

use std::{pin::Pin, sync::Arc, time::Instant};

use tokio::{
    select,
    time::{self, sleep_until},
};

use crate::{Error, store::Ledger};

/// A call that has begun. Its result comes with the time at which it began.
pub(super) type StoreCall<T> = Pin<Box<dyn Future<Output = (Instant, Result<T, Error>)> + Send>>;

/// The time of Tokio's clock, which a test can pause.
pub(super) fn now() -> Instant {
    time::Instant::now().into_std()
}

/// Begins a call of the store, and records the time: a lease counts from then.
pub(super) fn begin<T, F>(
    store: &Arc<dyn Ledger>,
    ask: impl FnOnce(Arc<dyn Ledger>) -> F + Send + 'static,
) -> StoreCall<T>
where
    F: Future<Output = Result<T, Error>> + Send,
    T: 'static,
{
    let store = Arc::clone(store);
    Box::pin(async move {
        let asked = now();
        (asked, ask(store).await)
    })
}

/// The result of a call that has begun. Never ready without a call.
pub(super) async fn result<T>(call: &mut Option<StoreCall<T>>) -> (Instant, Result<T, Error>) {
    match call {
        Some(begun) => {
            let result = begun.await;
            *call = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// Whether a future is ready now.
pub(super) async fn is_ready(future: Pin<&mut impl Future>) -> bool {
    select! {
        biased;
        _ = future => true,
        () = std::future::ready(()) => false,
    }
}

/// Waits until this time, or forever without one.
pub(super) async fn sleep_until_then(timer: Option<Instant>) {
    match timer {
        Some(then) => sleep_until(then.into()).await,
        None => std::future::pending().await,
    }
}
