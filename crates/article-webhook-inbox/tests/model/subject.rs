use std::path::Path;

use article_webhook_inbox::{Clock, SqliteSettings, SqliteStore, store::Store};
use tempfile::TempDir;

/// The store that is compared with the model.
pub(crate) struct Subject {
    store: SqliteStore,
    _folder: TempDir,
}

impl Subject {
    pub(crate) fn fresh(clock: Clock) -> Self {
        // This test is not about durability, and a disk is slow.
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder can be made");
        let settings = SqliteSettings::default().clock(clock);
        let store = SqliteStore::open_with(folder.path().join("inbox.db"), settings)
            .expect("a new file opens");
        Self { store, _folder: folder }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &self.store
    }

    /// Ids are compared, and a probe takes none here.
    pub(crate) fn probed(&self) {}
}
