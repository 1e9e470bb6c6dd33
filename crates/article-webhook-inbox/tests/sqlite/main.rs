//! What is special about [`SqliteStore`]: its file, its lock, its writer. What every store does is in the contract suite.

#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod accidents;
mod backup;
mod begun;
mod clock;
mod damage;
mod damaged_indexes;
mod damaged_ledger;
mod damaged_pages;
mod files;
mod kept;
mod ledger;
mod log;
mod readers;
mod refusals;
mod refused_start;
mod retention;
mod salvage;
mod waiting;
mod whole;

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{
    Clock, SqliteSettings, SqliteStore,
    store::{Claim, Claimed, Recorded, Store},
};
use article_webhook_inbox_contract::{CLAIM_ONE, arrival, key};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder with a database in it, and a clock.
struct Fixture {
    _folder: TempDir,
    path: PathBuf,
    clock: Clock,
}

const START: Duration = Duration::from_secs(1_800_000_000);
const CLAIM: Claim = Claim { limit: 10, lease: Duration::from_secs(60), attempts: 3, ..CLAIM_ONE };

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("inbox.db");
        Self { _folder: folder, path, clock: Clock::stepped(SystemTime::UNIX_EPOCH + START) }
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open_with(&self.path, self.settings()).unwrap()
    }

    fn settings(&self) -> SqliteSettings {
        SqliteSettings::default().clock(self.clock.clone())
    }

    /// A connection of another program to the same file.
    fn sql(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    fn beside(&self, ending: &str) -> PathBuf {
        format!("{}{ending}", self.path.display()).into()
    }

    /// The files as they are when this process is killed now, in another folder.
    fn after_a_kill(&self) -> Self {
        self.copied(&["", "-wal"])
    }

    /// Copies of files in another folder. Another process copies: closing a file of the database here would release the locks of
    /// SQLite.
    fn copied(&self, endings: &[&str]) -> Self {
        let other = Self { clock: self.clock.clone(), ..Self::new() };
        endings.iter().for_each(|ending| copy(&self.beside(ending), &other.beside(ending)));
        other
    }

    /// What a start says that is refused, and that leaves every file as it is.
    #[cfg(unix)]
    fn refused(&self) -> String {
        self.refused_beside(&[])
    }

    /// The same. It may make these files.
    #[cfg(unix)]
    fn refused_beside(&self, may_be_made: &[&str]) -> String {
        let before = FILES.map(|ending| state(&self.beside(ending)));
        let error = SqliteStore::open_with(&self.path, self.settings()).unwrap_err();
        for (ending, before) in FILES.iter().zip(before) {
            let is_made = before.is_none() && may_be_made.contains(ending);
            let is_same = is_made || before == state(&self.beside(ending));
            assert!(is_same, "the start was refused and has changed {ending:?}: {error}");
        }
        assert!(!error.is_transient());
        error.to_string()
    }

    async fn total(&self) -> u64 {
        self.open().counts().await.unwrap().total()
    }

    /// What the messages of refused starts say of a backup.
    fn restore_steps(&self) -> String {
        format!("restore a backup with `article-webhook inbox restore BACKUP {}`", self.shown())
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

#[cfg(unix)]
const FILES: [&str; 5] = ["", "-wal", "-shm", "-journal", "-lock"];

/// The bytes and the metadata of a file that is there.
#[cfg(unix)]
fn state(path: &Path) -> Option<(Vec<u8>, [u64; 5])> {
    use std::os::unix::fs::MetadataExt;

    let file = path.symlink_metadata().ok()?;
    let bytes = if file.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
    let mode = u64::from(file.mode());
    Some((bytes, [file.ino(), mode, file.nlink(), file.uid().into(), file.gid().into()]))
}

/// Changes the bytes of a file.
fn alter(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Where these bytes are.
fn position(bytes: &[u8], of: &[u8]) -> usize {
    bytes.windows(of.len()).position(|found| found == of).expect("they are there")
}

/// Makes the page unreadable in which this byte is, by the kind of the page.
fn spoil_page(bytes: &mut [u8], byte: usize) {
    bytes[byte / PAGE * PAGE] = 0;
}

/// The bytes of a page.
const PAGE: usize = 8192;

/// Copies a file as an operator does: a file that is there stays the same file.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().unwrap().success());
}

/// A program that reads, and has begun.
fn reader(fixture: &Fixture) -> Connection {
    let reader = fixture.sql();
    reader.execute_batch("BEGIN").unwrap();
    reader.query_row("SELECT count(*) FROM article_inbox_entries", [], |_| Ok(())).unwrap();
    reader
}

async fn record(store: &SqliteStore, jobs: std::ops::Range<u32>) {
    for job in jobs {
        let body = vec![b'a'; 4000];
        let recorded = store.record(arrival(&format!("job_{job}"), &body)).await;
        assert_eq!(recorded.unwrap(), Recorded::Stored);
    }
}

/// Waits until something is so, for at most some seconds.
async fn within(seconds: u64, mut is_so: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < Duration::from_secs(seconds), "not within {seconds} s");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn claimed(store: &SqliteStore) -> Claimed {
    let mut claims = store.claim(CLAIM).await.unwrap();
    assert_eq!(claims.claimed.len(), 1);
    claims.claimed.remove(0)
}
