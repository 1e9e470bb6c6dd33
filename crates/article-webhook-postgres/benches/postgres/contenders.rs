//! The store, and what it is measured against.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use article_webhook_inbox::store::{Arrival, Recorded, Store as _};
use article_webhook_postgres::PostgresStore;
use tokio::{runtime::Runtime, sync::Semaphore};
use tokio_postgres::{Client, Statement};

use crate::{bodies::Bodies, load::waits};

/// What stores deliveries.
#[derive(Clone)]
pub(crate) enum Contender {
    Store(PostgresStore),
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
        let contender = self.clone();
        let record = move |arrival| {
            let contender = contender.clone();
            async move { contender.record(arrival).await }
        };
        runtime.block_on(waits(bodies, waiting, until, record))
    }

    async fn record(&self, arrival: Arrival) {
        match self {
            Self::Store(store) => {
                assert_eq!(store.record(arrival).await.unwrap(), Recorded::Stored);
            }
            Self::Naive(naive) => naive.record(&arrival).await,
        }
    }
}

/// What an application would write: one transaction per delivery, on a pool of as many connections as the store has.
///
/// It is as fast as that can be: one prepared statement, which commits by itself, so that a delivery is one round trip. It has the
/// tables and indexes of the store, and the same promise, but for what the store checks.
pub(crate) struct Naive {
    free: Semaphore,
    idle: Mutex<Vec<(Client, Statement)>>,
}

/// How many connections the store has for deliveries.
const CONNECTIONS: usize = 4;

impl Naive {
    /// Connects, and makes the tables in a schema of their own.
    pub(crate) async fn connect(url: &str, schema: &str) -> Self {
        crate::store(url, schema).await.close().await.unwrap();
        let statement = format!(
            "WITH added AS (INSERT INTO {schema}.article_inbox_entries (job_id, event, received_at, state, attempts, fence, at, lease_end, \
             since, held, target, document, checksum) \
             SELECT $1, 'article.complete', now, 'waiting', 0, 0, now, now, now, 1, 'blog', '{{}}', 0 \
             FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) clock \
             ON CONFLICT (job_id, event) DO NOTHING RETURNING id, received_at) \
             INSERT INTO {schema}.article_inbox_bodies (entry, slot, received_at, digest, document, checksum, body) \
             SELECT id, 0, received_at, $2, '{{\"source\":\"webhook\",\"target\":\"blog\"}}', 0, $3 FROM added"
        );
        let mut idle = Vec::new();
        for _ in 0..CONNECTIONS {
            let client = crate::connect(url).await;
            let prepared = client.prepare(&statement).await.unwrap();
            idle.push((client, prepared));
        }
        Self { free: Semaphore::new(CONNECTIONS), idle: Mutex::new(idle) }
    }

    /// Returns once the delivery is on disk.
    pub(crate) async fn record(&self, arrival: &Arrival) {
        let _free = self.free.acquire().await.unwrap();
        let (client, statement) = self.idle.lock().unwrap().pop().unwrap();
        let (job_id, digest) = (arrival.key.job_id.as_str(), &arrival.digest.as_bytes()[..]);
        let added = client.execute(&statement, &[&job_id, &digest, &&*arrival.bytes]).await;
        assert_eq!(added.unwrap(), 1, "every job is another");
        self.idle.lock().unwrap().push((client, statement));
    }
}
