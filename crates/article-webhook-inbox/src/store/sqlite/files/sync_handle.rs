use std::{
    collections::BTreeMap,
    fs::File,
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::identity::{Identity, identity, of_metadata};

/// The databases that were opened to be synced. They stay open as long as the process: closing one would release the locks
/// that SQLite holds on it in this process.
static OPEN: Mutex<BTreeMap<Identity, &'static File>> = Mutex::new(BTreeMap::new());

/// The database at this path, to be synced beside SQLite. `None` if it cannot be opened, or is not known to be that file.
pub(in crate::store::sqlite) fn sync_handle(path: &Path) -> Option<&'static File> {
    let found = identity(path)?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = open.get(&found) {
        return Some(file);
    }
    let file: &'static File = Box::leak(Box::new(File::open(path).ok()?));
    let opened = of_metadata(&file.metadata().ok()?)?;
    open.entry(opened).or_insert(file);
    (opened == found).then_some(file)
}
