//! What the tests share: a runtime that outlives each of them, and schemas of their own.

use std::{
    process,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

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
