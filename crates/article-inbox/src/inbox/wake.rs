use std::sync::Arc;

use tokio::sync::watch;

/// Wakes all workers of this process when something is stored: one of them may be busy just then, or about to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wake(Arc<watch::Sender<()>>);

/// What one worker hears; what was said while it did not listen, it hears afterwards.
#[derive(Debug)]
pub(crate) struct Listener(watch::Receiver<()>);

impl Wake {
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
            // The inbox is gone, and with it whoever could store something.
            std::future::pending::<()>().await;
        }
    }
}
