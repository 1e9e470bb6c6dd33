//! What the tests share: a runtime that outlives each of them, and schemas of their own.

use std::{
    future::pending,
    process,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use article_webhook_inbox::{Completion, Failed, Inbox, Job};
use tokio::{runtime::Runtime, sync::mpsc, task::AbortHandle};
use tokio_postgres::{
    Client, Error, GenericClient, NoTls,
    types::{ToSql, Type},
};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

/// Waits for a future of the tests' runtime, also inside another runtime.
pub(crate) fn wait<F>(future: F) -> F::Output
where
    F: Future<Output: Send> + Send,
{
    thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(future)).join()).unwrap()
}

/// The name of a schema that no other test uses.
pub(crate) fn fresh_schema() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// A connection of an application. Runs on the tests' runtime.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Runs the statement of a completion, and returns how many rows it changed. It has no name, because a pooler may give that of this
/// one to the statement of another client.
#[allow(dead_code, reason = "not every test needs every part")]
pub(crate) async fn complete(
    client: &(impl GenericClient + Sync),
    completion: &Completion,
) -> Result<u64, Error> {
    let parameters = completion.parameters().iter();
    let parameters: Vec<_> =
        parameters.map(|value| (value as &(dyn ToSql + Sync), Type::INT8)).collect();
    client.execute_typed(completion.sql(), &parameters).await
}

/// Starts a worker, which says what it handles.
#[allow(dead_code, reason = "not every test needs every part")]
pub(crate) fn work(
    inbox: &Inbox,
    poll: Duration,
) -> (AbortHandle, mpsc::UnboundedReceiver<String>) {
    let (sender, handled) = mpsc::unbounded_channel();
    let handler = move |job: Job| {
        let sender = sender.clone();
        async move { Ok::<(), Failed>(sender.send(job.job_id().as_str().to_owned())?) }
    };
    let worker = inbox.worker(handler).poll(poll).run(pending::<()>());
    (tokio::spawn(worker).abort_handle(), handled)
}
