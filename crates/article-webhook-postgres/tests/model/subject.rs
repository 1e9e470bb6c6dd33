use std::sync::{Mutex, PoisonError};

use article_webhook_inbox::{Clock, store::Store};
use article_webhook_postgres::{PostgresSettings, PostgresStore};

use crate::scene;

/// The URL of the server of the next subjects.
static SERVER: Mutex<String> = Mutex::new(String::new());

pub(crate) fn use_server(url: String) {
    *SERVER.lock().unwrap_or_else(PoisonError::into_inner) = url;
}

/// The store that is compared with the model, in a schema of its own.
pub(crate) struct Subject {
    store: Option<PostgresStore>,
    url: String,
    schema: String,
}

impl Subject {
    pub(crate) fn fresh(clock: Clock) -> Self {
        let url = SERVER.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let schema = scene::fresh_schema();
        let settings = PostgresSettings::new(&url).unwrap().schema(&schema).unwrap().clock(clock);
        let store = Some(scene::wait(PostgresStore::connect(settings)).unwrap());
        Self { store, url, schema }
    }

    /// Ids are compared, and a probe takes one.
    pub(crate) fn probed(&self) {
        let ids = format!("{}.article_inbox_ids", self.schema);
        let back = format!("SELECT setval('{ids}', last_value, false) FROM {ids}");
        let url = self.url.clone();
        scene::wait(async move { scene::connect(&url).await.batch_execute(&back).await }).unwrap();
    }

    pub(crate) fn store(&self) -> &dyn Store {
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
