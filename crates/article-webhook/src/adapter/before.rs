use std::{future::poll_fn, pin::pin, task::Poll};

/// The output of `work`, or `None` if `sleep` ends first.
pub(super) async fn before<T>(
    sleep: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut sleep, mut work) = (pin!(sleep), pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => sleep.as_mut().poll(context).map(|()| None),
    })
    .await
}
