use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Clock, Completion, SqliteSettings, SqliteStore, store::Store};
use article_webhook_inbox_contract::{Durable, Subject, Transactional};
use tempfile::TempDir;

struct Sqlite {
    store: Option<Arc<SqliteStore>>,
    clock: Clock,
    folder: TempDir,
}

impl Sqlite {
    fn fresh() -> Self {
        let (clock, folder) = (crate::stepped(), tempfile::tempdir().unwrap());
        Self { store: Some(open(folder.path(), &clock)), clock, folder }
    }
}

fn open(folder: &Path, clock: &Clock) -> Arc<SqliteStore> {
    let settings = SqliteSettings::default().clock(clock.clone());
    Arc::new(SqliteStore::open_with(folder.join("inbox.db"), settings).unwrap())
}

impl Subject for Sqlite {
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

impl Durable for Sqlite {
    fn reopen(&mut self) {
        // The first store must be dropped, because its lock excludes the second.
        self.store = None;
        self.store = Some(open(self.folder.path(), &self.clock));
    }
}

impl Transactional for Sqlite {
    fn execute(&mut self, completion: &Completion) -> u64 {
        let mut application =
            rusqlite::Connection::open(self.folder.path().join("inbox.db")).unwrap();
        let transaction = application.transaction().unwrap();
        let parameters = rusqlite::params_from_iter(completion.parameters());
        let changed = transaction.execute(completion.sql(), parameters).unwrap();
        transaction.commit().unwrap();
        changed as u64
    }
}

article_webhook_inbox_contract::store_contract!(Sqlite::fresh());

mod with_an_application {
    use super::Sqlite;

    article_webhook_inbox_contract::transactional_store_contract!(Sqlite::fresh());
}

mod after_a_restart {
    use super::Sqlite;

    article_webhook_inbox_contract::durable_store_contract!(Sqlite::fresh());
}
