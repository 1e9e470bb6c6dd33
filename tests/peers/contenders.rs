use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    SqliteStore,
    store::{Arrival, Recorded, Store},
};
use effectum::Queue;
use tokio::runtime::Runtime;

use crate::{bodies::Bodies, load::waits, queue};

/// What stores deliveries.
pub(crate) enum Contender {
    Store(SqliteStore),
    Effectum(Arc<Queue>),
}

impl Contender {
    /// The inbox and Effectum, each in a file of its own.
    pub(crate) fn both(folder: &Path, runtime: &Runtime) -> [Self; 2] {
        let store = SqliteStore::open(folder.join("inbox.db")).unwrap();
        let queue = runtime.block_on(queue::open(folder));
        [Self::Store(store), Self::Effectum(Arc::new(queue))]
    }

    /// How long each delivery takes that is stored until that time, one after the other in each of that many tasks.
    pub(crate) fn waits(
        &self,
        bodies: &Bodies,
        senders: usize,
        until: Instant,
        runtime: &Runtime,
    ) -> Vec<Duration> {
        match self {
            Self::Store(store) => {
                let store = store.clone();
                let record = move |arrival| {
                    let store = store.clone();
                    async move { assert_eq!(store.record(arrival).await.unwrap(), Recorded::Stored) }
                };
                runtime.block_on(waits(bodies, senders, until, record))
            }
            Self::Effectum(queue) => {
                let queue = Arc::clone(queue);
                let record = move |arrival: Arrival| {
                    let queue = Arc::clone(&queue);
                    async move { queue::add(&queue, &arrival.bytes).await }
                };
                runtime.block_on(waits(bodies, senders, until, record))
            }
        }
    }
}
