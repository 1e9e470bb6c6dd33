use article_inbox::{Clock, store::Ledger};
use article_inbox_postgres::{PostgresSettings, PostgresStore};

use crate::{scene, server::shared_url};

/// The store that is compared with the model, in a schema of its own.
pub(crate) struct Subject {
    store: Option<PostgresStore>,
    url: String,
    schema: String,
}

impl Subject {
    pub(crate) fn fresh(clock: Clock) -> Self {
        let (url, schema) = (shared_url().expect("there is a server"), scene::fresh_schema());
        let settings = PostgresSettings::new(&url).unwrap().schema(&schema).unwrap().clock(clock);
        let store = Some(scene::wait(PostgresStore::connect(settings)).unwrap());
        Self { store, url, schema }
    }

    pub(crate) fn store(&self) -> &dyn Ledger {
        self.store.as_ref().expect("it is there until the end")
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.store = None;
        let (url, drop) = (self.url.clone(), format!("DROP SCHEMA {} CASCADE", self.schema));
        scene::wait(async move { scene::connect(&url).await.batch_execute(&drop).await }).unwrap();
    }
}
