//! The store in PostgreSQL as a subject of the contract. Each case has a schema of its own, whose owner gives the role of the store
//! what the inbox needs, and nothing else.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Clock, Completion, store::Store};
use article_webhook_inbox_contract::{Durable, Subject, Transactional};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio_postgres::error::SqlState;

use crate::scene;

/// The role of the store. PgBouncer knows it.
const ROLE: &str = "inbox";

pub(crate) struct Postgres {
    pub(crate) store: Option<Arc<PostgresStore>>,
    clock: Clock,
    pub(crate) schema: String,
    pub(crate) url: String,
}

impl Postgres {
    #[allow(dead_code, reason = "the model has a clock")]
    pub(crate) fn fresh(url: String) -> Self {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        Self::on(url, Clock::stepped(start))
    }

    pub(crate) fn on(url: String, clock: Clock) -> Self {
        let schema = scene::fresh_schema();
        let mut subject = Self { store: None, clock, schema, url };
        subject.make_role();
        scene::wait(subject.settings(&subject.url).migrate(Some(ROLE))).unwrap();
        subject.open();
        subject
    }

    fn settings(&self, url: &str) -> PostgresSettings {
        PostgresSettings::new(url).unwrap().schema(&self.schema).unwrap()
    }

    fn make_role(&self) {
        // The server may have it.
        let (url, make) = (self.url.clone(), format!("CREATE ROLE {ROLE} LOGIN"));
        scene::wait(async move { drop(scene::connect(&url).await.batch_execute(&make).await) });
    }

    fn open(&mut self) {
        let settings = self.settings(&self.url.replace("postgres@", &format!("{ROLE}@")));
        let settings = settings.clock(self.clock.clone()).receiving_connections(2).unwrap();
        self.store = Some(Arc::new(scene::wait(PostgresStore::connect(settings)).unwrap()));
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let (url, drop) = (self.url.clone(), format!("DROP SCHEMA {} CASCADE", self.schema));
        self.store = None;
        scene::wait(async move {
            let client = scene::connect(&url).await;
            // What the store began may still run, and lock its tables in another order.
            while let Err(error) = client.batch_execute(&drop).await {
                assert_eq!(error.code(), Some(&SqlState::T_R_DEADLOCK_DETECTED), "{error}");
            }
        });
    }
}

impl Subject for Postgres {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone().unwrap()
    }

    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
    }
}

impl Durable for Postgres {
    fn reopen(&mut self) {
        self.store = None;
        self.open();
    }
}

impl Transactional for Postgres {
    fn execute(&mut self, completion: &Completion) -> u64 {
        let (url, completion) = (self.url.clone(), completion.clone());
        scene::wait(async move {
            let mut application = scene::connect(&url).await;
            let transaction = application.transaction().await.unwrap();
            let changed = scene::complete(&transaction, &completion).await.unwrap();
            transaction.commit().await.unwrap();
            changed
        })
    }
}
