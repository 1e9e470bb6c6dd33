use std::{
    fs::{File, TryLockError},
    path::Path,
};

use super::database_file::{private, with_suffix};
use crate::Error;

/// Locks the file `-lock` beside the database. The lock excludes every other receiver and worker until it is dropped.
pub(super) fn lock(path: &Path) -> Result<File, Error> {
    let name = with_suffix(path, "-lock");
    let file = private().create(true).open(&name).map_err(|error| {
        let folder = path.parent().unwrap_or(path).display();
        Error::unusable(format!(
            "{} cannot be created: let this process write to {folder}",
            name.display()
        ))
        .because(error)
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::unusable(format!(
            "another process uses {}, and holds the lock {}: stop it, or give each a file of its own",
            path.display(),
            name.display()
        ))),
        Err(TryLockError::Error(error)) => Err(Error::unusable(format!(
            "{} cannot be locked: put the database on a disk whose file system has locks",
            name.display()
        ))
        .because(error)),
    }
}
