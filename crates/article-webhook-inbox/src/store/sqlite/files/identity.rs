use std::{fs::Metadata, path::Path};

use super::database_file::with_suffix;

/// The device and inode of a file. They distinguish it from another file of the same name.
pub(in crate::store::sqlite) type Identity = (u64, u64);

/// The identity of what is at this path, which may be a link.
///
/// Since Linux 6.13, reading the times of a file makes the next write to it a change of its inode, and the next sync then
/// waits for the journal of the file system. So the times are not read.
#[cfg(target_os = "linux")]
pub(in crate::store::sqlite) fn identity(path: &Path) -> Option<Identity> {
    use rustix::{
        fs::{AtFlags, CWD, StatxFlags, makedev, statx},
        io::Errno,
    };

    match statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::INO) {
        Ok(file) => Some((makedev(file.stx_dev_major, file.stx_dev_minor), file.stx_ino)),
        Err(Errno::NOSYS) => of_metadata(&path.symlink_metadata().ok()?),
        Err(_) => None,
    }
}

/// The identity of what is at this path, which may be a link.
#[cfg(not(target_os = "linux"))]
pub(in crate::store::sqlite) fn identity(path: &Path) -> Option<Identity> {
    path.symlink_metadata().ok().as_ref().and_then(of_metadata)
}

#[cfg(unix)]
pub(super) fn of_metadata(file: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(super) fn of_metadata(_: &Metadata) -> Option<Identity> {
    None
}

/// The files that an open connection uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::sqlite) struct FilesInUse {
    database: Option<Identity>,
    log: Option<Identity>,
    index: Option<Identity>,
}

/// What happened to the files of a connection while it was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::sqlite) enum Change {
    Nothing,
    /// The path no longer leads to the database. What is committed to the open file would be lost.
    DatabaseMoved,
    /// The log or the shared memory was removed or replaced. What is committed may be in the old log alone.
    LogReplaced,
}

impl FilesInUse {
    /// The files of a connection that was just opened.
    pub(in crate::store::sqlite) fn at(path: &Path) -> Self {
        let [database, log, index] =
            ["", "-wal", "-shm"].map(|ending| identity(&with_suffix(path, ending)));
        Self { database, log, index }
    }

    /// Whether the path leads to the database of these files.
    pub(in crate::store::sqlite) fn has_database_of(&self, path: &Path) -> bool {
        identity(path) == self.database
    }

    /// Whether the paths still lead to these files.
    pub(in crate::store::sqlite) fn change(&self, path: &Path) -> Change {
        let found = Self::at(path);
        if found == *self {
            return Change::Nothing;
        }
        if found.database != self.database {
            return Change::DatabaseMoved;
        }
        Change::LogReplaced
    }
}
