//! What is special about [`SqliteStore`]: its file, its lock, its writer. What every store does is in the contract suite.

#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod attacks;
mod damage;
mod damaged_pages;
mod files;
mod migration;
mod refusals;
mod retention;
mod writer;

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use article_inbox::{
    Clock, Digest, EntryKey, Source, SqliteSettings, SqliteStore,
    store::{Arrival, Claim, Claimed, Store},
};
use bytes::Bytes;
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder with a database in it, and a clock.
struct Place {
    _folder: TempDir,
    path: PathBuf,
    clock: Clock,
}

const START: Duration = Duration::from_secs(1_800_000_000);
const CLAIM: Claim = Claim { limit: 10, lease: Duration::from_secs(60), attempts: 3, running: 0 };

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("inbox.db");
        Self { _folder: folder, path, clock: Clock::stepped(SystemTime::UNIX_EPOCH + START) }
    }

    fn open(&self) -> SqliteStore {
        let settings = SqliteSettings::default().clock(self.clock.clone());
        SqliteStore::open_with(&self.path, settings).unwrap()
    }

    /// A connection of another program to the same file.
    fn sql(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    fn beside(&self, ending: &str) -> PathBuf {
        format!("{}{ending}", self.path.display()).into()
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

fn arrival(job_id: &str, bytes: impl Into<Bytes>) -> Arrival {
    let bytes = bytes.into();
    Arrival {
        key: key(job_id),
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest: Digest::of(&bytes),
        bytes,
    }
}

fn key(job_id: &str) -> EntryKey {
    EntryKey::article(job_id.parse().unwrap())
}

async fn claimed(store: &SqliteStore) -> Claimed {
    let mut claims = store.claim(CLAIM).await.unwrap();
    assert_eq!(claims.claimed.len(), 1);
    claims.claimed.remove(0)
}
