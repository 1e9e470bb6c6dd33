//! The databases that are damaged: with small pages and with the usual ones, closed and with a log.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use article_webhook_inbox::{Clock, SqliteSettings, SqliteStore, store::Store};
use article_webhook_inbox_contract::CLAIM_ONE;
use rusqlite::Connection;

use super::story::{START, Sent, Story};

/// The bytes of a database and its log.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) database: Vec<u8>,
    pub(super) log: Vec<u8>,
}

impl Files {
    /// Writes the files into a folder, and returns the database's path.
    pub(super) fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("inbox.db");
        std::fs::write(&path, &self.database).expect("the database can be written");
        if !self.log.is_empty() {
            std::fs::write(folder.join("inbox.db-wal"), &self.log).expect("the log can be written");
        }
        path
    }
}

/// A sound database, and what was sent to it.
pub(super) struct Base {
    pub(super) name: &'static str,
    pub(super) files: Files,
    pub(super) page: usize,
    pub(super) sent: Sent,
}

/// A folder in memory if there is one.
pub(super) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder can be made")
}

impl Base {
    pub(super) fn all() -> Vec<Self> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let small = runtime.block_on(Self::build(1024));
        let usual = runtime.block_on(Self::build(8192));
        small.into_iter().chain(usual).collect()
    }

    /// Pages of 1024 bytes make a small file with pages of each kind.
    async fn build(page: usize) -> [Self; 2] {
        let folder = folder();
        let path = folder.path().join("inbox.db");
        if page != 8192 {
            // The application made the file, and has a table in it.
            let application = Connection::open(&path).expect("a database");
            let tables = format!(
                "PRAGMA page_size = {page}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
                 CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO shop (name) VALUES ('a')"
            );
            application.execute_batch(&tables).expect("a table");
        }
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + START);
        let open = || {
            SqliteStore::open_with(&path, SqliteSettings::default().clock(clock.clone()))
                .expect("opened")
        };
        let store = open();
        let mut sent = Story::new(&store, &clock).run("a").await;
        store.close().await.expect("closed");
        let files = Files { database: read(&path), log: Vec::new() };
        let name = if page == 8192 { "closed" } else { "closed, small pages" };
        let closed = Self { name, files, page, sent: sent.clone() };

        let store = open();
        // What waits would be claimed in place of the entries of the second half.
        while !store.claim(all()).await.expect("claimed").claimed.is_empty() {}
        sent.extend(Story::new(&store, &clock).run("b").await);
        // Erasing has emptied the log.
        Story::new(&store, &clock).add_to_the_log("c", &mut sent).await;
        let log = read(&folder.path().join("inbox.db-wal"));
        let files = Files { database: read(&path), log };
        assert!(!files.log.is_empty(), "the log is copied before it is emptied");
        let name = if page == 8192 { "running" } else { "running, small pages" };
        [closed, Self { name, files, page, sent }]
    }
}

fn all() -> article_webhook_inbox::store::Claim {
    let lease = std::time::Duration::from_secs(3600);
    article_webhook_inbox::store::Claim { limit: 100, lease, ..CLAIM_ONE }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("the file can be read")
}
