//! What the store is measured against.

pub(crate) mod naive;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    SqliteStore,
    store::{Recorded, Store},
};
use tokio::runtime::Runtime;

use self::naive::Naive;
use crate::{bodies::Bodies, load::waits};

/// What stores deliveries.
#[derive(Clone)]
pub(crate) enum Contender {
    Store(SqliteStore),
    Naive(Arc<Naive>),
}

impl Contender {
    /// How long each delivery takes that is stored until that time, one after the other in each of that many tasks.
    pub(crate) fn waits(
        &self,
        bodies: &Bodies,
        waiting: usize,
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
                runtime.block_on(waits(bodies, waiting, until, record))
            }
            Self::Naive(naive) => naive.waits(bodies, waiting, until),
        }
    }
}
