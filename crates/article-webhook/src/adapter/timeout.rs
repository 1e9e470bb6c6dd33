use std::{future::poll_fn, pin::pin, task::Poll};

/// The output of `work`, or `None` if the future of `sleep` ends first. `sleep` is called when `work` first
/// has to wait: work that need not wait needs no timer, and no runtime.
pub(super) async fn before<T, S: Future<Output = ()>>(
    sleep: impl FnOnce() -> S,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut sleep = Some(sleep);
    let (mut slept, mut work) = (pin!(None), pin!(work));
    poll_fn(|context| {
        if let Poll::Ready(output) = work.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        if let Some(sleep) = sleep.take() {
            slept.set(Some(sleep()));
        }
        let slept = slept.as_mut().as_pin_mut();
        slept.map_or(Poll::Pending, |slept| slept.poll(context).map(|()| None))
    })
    .await
}
