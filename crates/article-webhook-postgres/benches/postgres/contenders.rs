//! The store, and what it is measured against.

pub(crate) mod naive;
pub(crate) mod pgbench;

use std::sync::Arc;

use article_webhook_inbox::{
    SqliteStore,
    store::{Arrival, Recorded, Store},
};
use article_webhook_postgres::PostgresStore;

use self::{naive::Naive, pgbench::Pgbench};

/// What stores deliveries.
#[derive(Clone)]
pub(crate) enum Contender {
    Store(PostgresStore),
    Naive(Arc<Naive>),
    /// The program of PostgreSQL, with a connection for each delivery that waits, and at most 64.
    Pgbench(Arc<Pgbench>),
    Sqlite(SqliteStore),
}

impl Contender {
    pub(crate) async fn record(&self, arrival: Arrival) {
        let recorded = match self {
            Self::Store(store) => store.record(arrival).await,
            Self::Sqlite(store) => store.record(arrival).await,
            Self::Naive(naive) => return naive.record(&arrival).await,
            Self::Pgbench(_) => unreachable!("it is a program of its own"),
        };
        assert_eq!(recorded.unwrap(), Recorded::Stored);
    }
}
