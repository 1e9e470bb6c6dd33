use tokio::sync::watch;

/// The signal of the worker to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// It may continue.
    Go,
    /// The worker stops.
    Stop,
    /// Another worker may have the entry.
    LostLease,
}

/// The signal, once it is not `Go` any more.
pub(super) async fn changed(signal: &mut watch::Receiver<Signal>) -> Signal {
    // Without a worker, nothing extends the lease.
    signal
        .wait_for(|signal| *signal != Signal::Go)
        .await
        .map_or(Signal::LostLease, |signal| *signal)
}
