use std::{fs::Metadata, io, path::Path};

use super::database_file::with_suffix;
use crate::Error;

/// Refuses files that SQLite would not use safely, by their metadata alone. Nothing is opened, created or changed.
pub(in crate::store::sqlite) fn validate(path: &Path) -> Result<(), Error> {
    let database = regular(path)?;
    let log = regular(&with_suffix(path, "-wal"))?;
    regular(&with_suffix(path, "-shm"))?;
    regular(&with_suffix(path, "-journal"))?;
    let bytes = log.map_or(0, |log| log.len());
    // SQLite removes a log whose database is empty.
    if bytes > 0 && database.as_ref().is_none_or(|database| database.len() == 0) {
        let path = path.display();
        let what = if database.is_none() { "missing" } else { "empty" };
        return Err(Error::damaged(format!(
            "the log {path}-wal holds {bytes} bytes, but the database {path} is {what}: put the database back, or, to \
             start with an empty inbox, move {path}-wal, {path}-shm and {path}-lock away"
        )));
    }
    Ok(())
}

/// The metadata of a file, if there is one. It must be a regular file with one name.
pub(super) fn regular(path: &Path) -> Result<Option<Metadata>, Error> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let path = path.display();
            return Err(Error::unusable(format!(
                "{path} cannot be inspected: let this process enter its folder"
            ))
            .because(error));
        }
    };
    let shown = path.display();
    if metadata.is_symlink() {
        return Err(Error::unusable(format!(
            "{shown} is a link: put the file itself in its place, or remove the link"
        )));
    }
    if !metadata.is_file() {
        return Err(Error::unusable(format!(
            "{shown} is not a regular file: move it away, or name another database"
        )));
    }
    match names(&metadata) {
        1 => Ok(Some(metadata)),
        // It was removed a moment ago.
        0 => Ok(None),
        names => Err(Error::unusable(format!(
            "{shown} is one file with {names} names (hard links), and a second receiver could open it under another: \
             remove the others, which `find / -samefile {shown}` lists"
        ))),
    }
}

#[cfg(unix)]
fn names(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}
