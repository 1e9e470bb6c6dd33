//! Copying the log into the database beside the commits, so that a checkpoint has little left to copy and to sync.

use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use rusqlite::Connection;

use crate::store::sqlite::{
    connection::{self, Checkpoint},
    fault::Fault,
    files::sync_handle,
};

/// Copies what was committed before a snapshot, which a reader holds.
///
/// SQLite syncs the database only when a checkpoint has copied the whole log. What is copied up to a snapshot is synced by
/// a thread instead, while commits go on. SQLite's own sync, before the log is restarted, then finds little to do. It
/// alone decides that the log is in the database.
pub(super) struct CopyAhead {
    /// A connection that reads, and so keeps a commit from restarting the log.
    snapshot: Connection,
    syncs: SyncSender<()>,
    has_failed: Arc<AtomicBool>,
}

impl CopyAhead {
    /// `None` if the database cannot be synced beside SQLite. Then only checkpoints copy.
    pub(super) fn start(path: &Path) -> Option<Self> {
        let file = sync_handle(path)?;
        let snapshot = connection::open_reader(path).ok()?;
        let has_failed = Arc::new(AtomicBool::new(false));
        // One request covers all that was copied before it.
        let (syncs, requests) = sync_channel(1);
        let thread = thread::Builder::new().name("article-webhook-sync".into());
        let failed = Arc::clone(&has_failed);
        thread.spawn(move || sync(file, &requests, &failed)).ok()?;
        Some(Self { snapshot, syncs, has_failed })
    }

    /// Copies what was committed before the last call, and returns how many bytes are left. The first call takes a snapshot
    /// alone.
    pub(super) fn copy(&self, writer: &Connection) -> Result<Option<u64>, Fault> {
        let left = if self.snapshot.is_autocommit() {
            None
        } else {
            let left = connection::checkpoint(writer, Checkpoint::Passive)?;
            // If a request waits already, it covers this one.
            let _ = self.syncs.try_send(());
            self.release()?;
            Some(left)
        };
        self.snapshot.execute_batch("BEGIN; PRAGMA schema_version")?;
        Ok(left)
    }

    /// Ends the snapshot, so that the whole log can be copied.
    pub(super) fn release(&self) -> Result<(), Fault> {
        if !self.snapshot.is_autocommit() {
            self.snapshot.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    /// Whether a sync has failed. Then the kernel may have dropped what was copied.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}

fn sync(file: &File, requests: &Receiver<()>, has_failed: &AtomicBool) {
    for () in requests {
        if file.sync_data().is_err() {
            has_failed.store(true, Ordering::Relaxed);
        }
    }
}
