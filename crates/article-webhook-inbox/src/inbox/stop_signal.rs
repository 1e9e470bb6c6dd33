use std::{future::pending, sync::LazyLock};

use tokio::{signal::ctrl_c, sync::watch};

use crate::telemetry;

/// Whether a signal has come. The runtime reports a signal only to those that listen at that moment.
static HAS_COME: LazyLock<watch::Sender<bool>> = LazyLock::new(watch::Sender::default);

/// Resolves when the program should stop: at Ctrl-C, or at SIGTERM, which service managers and containers send.
///
/// Give one to the server and one to the worker, so that both stop at the same time: a service manager usually waits for 30
/// seconds, and each of them may need 25. Once this was polled, neither signal ends the program by itself any more. Once a signal
/// has come, it resolves for all that wait or will wait.
///
/// ```
/// use article_webhook_inbox::{Failed, Inbox, Job, stop_signal};
///
/// async fn publish(_: Job) -> Result<(), Failed> {
///     Ok(())
/// }
///
/// # #[allow(unused)]
/// async fn serve(server: impl Future<Output = std::io::Result<()>>) -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     // In a task of its own: if it ends with an error, articles are still stored.
///     let worker = tokio::spawn(inbox.worker(publish).run(stop_signal()));
///     server.await?; // until another stop_signal()
///     worker.await??;
///     Ok(inbox.close().await?)
/// }
/// ```
pub async fn stop_signal() {
    let mut has_come = HAS_COME.subscribe();
    tokio::select! {
        () = signal() => {
            if !HAS_COME.send_replace(true) {
                telemetry::stopping();
            }
        }
        _ = has_come.wait_for(|has_come| *has_come) => {}
    }
}

async fn signal() {
    // A signal that cannot be listened to ends the program as it does by default.
    let interrupt = async {
        if ctrl_c().await.is_err() {
            pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix;

        if let Ok(mut terminate) = unix::signal(unix::SignalKind::terminate()) {
            tokio::select! {
                () = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    interrupt.await;
}
