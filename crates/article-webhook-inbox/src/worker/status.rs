use std::time::SystemTime;

use crate::EntryKey;

/// The workers of an inbox in this process.
///
/// ```
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let inbox = Inbox::memory();
///     assert_eq!(inbox.health().await.workers.started, 0, "nothing is worked on");
///
///     let worker = tokio::spawn(inbox.worker(|_| async { Ok(()) }).run(std::future::pending::<()>()));
///     while inbox.health().await.workers.running == 0 {
///         tokio::task::yield_now().await;
///     }
///     inbox.close().await?;
///     assert!(worker.await.unwrap().is_err());
///
///     let workers = inbox.health().await.workers;
///     assert_eq!((workers.started, workers.running), (1, 0));
///     assert_eq!(workers.failure.unwrap().error, "the inbox is closed");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be reported
pub struct Workers {
    /// How many run now.
    pub running: u32,
    /// How many were started since the inbox was opened.
    pub started: u64,
    /// Why the last one ended that did not end by its `shutdown`. It stays when another is started.
    pub failure: Option<WorkerFailure>,
    /// At the last claim, the failure of a job was due, and no worker of this inbox had a
    /// [handler](crate::Worker::on_failure) for it.
    pub failures_wait: bool,
}

/// The end of a worker that was not told to end.
///
/// ```
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     let inbox = Inbox::memory();
///     assert_eq!(inbox.health().await.workers.failure, None);
///
///     let worker = inbox.worker(|_| async { Ok(()) }).attempts(0);
///     assert!(worker.run(std::future::pending::<()>()).await.is_err());
///     let failure = inbox.health().await.workers.failure.unwrap();
///     assert_eq!(failure.error, "worker: attempts: expected at least 1, found 0");
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct WorkerFailure {
    /// When it ended.
    pub at: SystemTime,
    /// The error with which it ended, or that it was dropped.
    pub error: String,
}

/// A handler that goes on although its attempt was given up: it ran into its time limit, its lease was lost, or its
/// worker stopped. It keeps its thread until it returns.
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use article_webhook_inbox::{Inbox, Job};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
///     assert!(inbox.health().await.stuck.is_empty());
///
///     let (end, never) = mpsc::channel::<()>();
///     let never = std::sync::Mutex::new(never);
///     let handler = move |_: Job| {
///         let _ = never.lock().map(|never| never.recv()); // blocks its thread
///         async { Ok(()) }
///     };
///     let worker = inbox.worker(handler).attempts(1).handler_timeout(Duration::ZERO);
///     let watched = inbox.clone();
///     let stuck = async move {
///         while watched.health().await.stuck.is_empty() {
///             tokio::time::sleep(Duration::from_millis(10)).await;
///         }
///     };
///     worker.run(stuck).await?;
///     assert_eq!(inbox.health().await.stuck[0].key.to_string(), "job_1 (article.complete)");
///     drop(end);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct StuckHandler {
    /// The job and the event.
    pub key: EntryKey,
    /// The number of the attempt.
    pub attempt: u32,
    /// When the handler began.
    pub since: SystemTime,
}
