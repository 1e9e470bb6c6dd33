use std::sync::{Mutex, PoisonError};

use article_webhook_inbox::{Clock, store::Store};

use crate::{postgres::Postgres, scene};

/// The URL of the server of the next subjects.
static SERVER: Mutex<String> = Mutex::new(String::new());

pub(crate) fn use_server(url: String) {
    *SERVER.lock().unwrap_or_else(PoisonError::into_inner) = url;
}

/// The store that is compared with the model, in a schema of its own.
pub(crate) struct Subject(Postgres);

impl Subject {
    pub(crate) fn fresh(clock: Clock) -> Self {
        let url = SERVER.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self(Postgres::on(url, clock))
    }

    /// Ids are compared, and a probe takes one.
    pub(crate) fn probed(&self) {
        let (url, ids) = (&self.0.url, format!("{}.article_inbox_ids", self.0.schema));
        let back = format!("SELECT setval('{ids}', last_value, false) FROM {ids}");
        scene::wait(async { scene::connect(url).await.batch_execute(&back).await }).unwrap();
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.0.store.as_deref().expect("it is there until the end")
    }
}
