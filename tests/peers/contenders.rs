use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use ::effectum::Queue;
use article_webhook_inbox::{
    SqliteStore,
    store::{Arrival, Recorded, Store},
};
use tokio::runtime::Runtime;

use crate::{
    apalis::{self, Jobs},
    bodies::Bodies,
    effectum as queue,
    load::waits,
    naive::Naive,
};

/// What stores deliveries.
pub(crate) enum Contender {
    Store(SqliteStore),
    ByHand(Naive),
    Effectum(Arc<Queue>),
    Apalis(Jobs),
}

impl Contender {
    /// All of them, the inbox first, each in a file of its own.
    pub(crate) fn all(folder: &Path, runtime: &Runtime) -> [Self; 4] {
        [
            Self::Store(SqliteStore::open(folder.join("inbox.db")).unwrap()),
            Self::ByHand(Naive::open(folder)),
            Self::Effectum(Arc::new(runtime.block_on(queue::open(folder)))),
            Self::Apalis(runtime.block_on(apalis::open(folder))),
        ]
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
            Self::ByHand(table) => table.waits(bodies, senders, until),
            Self::Effectum(queue) => {
                let queue = Arc::clone(queue);
                let record = move |arrival: Arrival| {
                    let queue = Arc::clone(&queue);
                    async move { queue::add(&queue, &arrival.bytes).await }
                };
                runtime.block_on(waits(bodies, senders, until, record))
            }
            Self::Apalis(jobs) => {
                let jobs = jobs.clone();
                let record = move |arrival: Arrival| {
                    let mut jobs = jobs.clone();
                    async move { apalis::add(&mut jobs, &arrival.bytes).await }
                };
                runtime.block_on(waits(bodies, senders, until, record))
            }
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Store(_) => "inbox",
            Self::ByHand(_) => "one transaction each",
            Self::Effectum(_) => "Effectum",
            Self::Apalis(_) => "apalis-sqlite",
        })
    }
}
