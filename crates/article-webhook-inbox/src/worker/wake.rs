use std::sync::Arc;

use tokio::sync::watch;

/// Wakes all workers of this process when an entry is stored, because one of them may be busy or about to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct WakeSignal(Arc<watch::Sender<()>>);

/// One worker's end of the signal. A signal that comes while the worker does not wait is kept for it.
#[derive(Debug)]
pub(crate) struct Listener(watch::Receiver<()>);

impl WakeSignal {
    pub(crate) fn wake(&self) {
        self.0.send_replace(());
    }

    pub(crate) fn listener(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

impl Listener {
    pub(crate) async fn woken(&mut self) {
        if self.0.changed().await.is_err() {
            // The inbox was dropped, so nothing can be stored any more.
            std::future::pending::<()>().await;
        }
    }
}
