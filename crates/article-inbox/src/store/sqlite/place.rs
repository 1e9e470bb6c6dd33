use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::Error;

/// Where a database lies: an absolute path without links, so that one file has one lock.
pub(super) fn resolved(path: &Path) -> Result<PathBuf, Error> {
    if path.is_dir() {
        return Err(Error::unusable(format!("{} is a folder: name a file in it", path.display())));
    }
    if let Ok(path) = path.canonicalize() {
        return Ok(path);
    }
    let Some(name) = path.file_name() else {
        return Err(Error::unusable(format!("{} names no file", path.display())));
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match folder.canonicalize() {
        Ok(found) if found.is_dir() => Ok(found.join(name)),
        Ok(_) => {
            Err(Error::unusable(format!("{} is not a folder: name another file", folder.display())))
        }
        Err(error) => Err(Error::unusable(format!(
            "the folder {} does not exist or cannot be entered: create it, or name another file",
            folder.display()
        ))
        .because(error)),
    }
}

/// What tells a file from another one that has taken its name.
pub(super) type Identity = (u64, u64);

/// That of the file of this name. It is looked at and not opened: closing it would end this process's locks on it.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(_: &Path) -> Option<Identity> {
    None
}

/// Keeps every other receiver and worker out, until it is dropped.
pub(super) fn locked(path: &Path) -> Result<File, Error> {
    let name = beside(path, "-lock");
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

/// Makes the file if there is none, readable for nobody but its owner; takes the rights of others away if it is there.
///
/// A file that is there is never opened here: closing it would end all locks that this process has on it.
pub(super) fn secured(path: &Path) -> Result<(), Error> {
    match private().create_new(true).open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(Error::unusable(format!(
                "{} cannot be created: let this process write to its folder",
                path.display()
            ))
            .because(error));
        }
    }
    for path in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        tighten(&path).map_err(|error| {
            Error::unusable(format!(
                "others can read {}, and it cannot be changed: make it belong to this process's user",
                path.display()
            ))
            .because(error)
        })?;
    }
    Ok(())
}

#[cfg(unix)]
fn tighten(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut permissions = metadata.permissions();
    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    permissions.set_mode(permissions.mode() & 0o700);
    std::fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn tighten(_: &Path) -> io::Result<()> {
    Ok(())
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The file of that name and an ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Refuses a file system of another machine: its locks and syncs are not those that were promised.
#[cfg(target_os = "linux")]
pub(super) fn local(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let Ok(system) = rustix::fs::statfs(folder) else {
        return Ok(());
    };
    #[allow(clippy::unnecessary_cast, reason = "its type differs from one processor to the next")]
    match network(system.f_type as i64) {
        Some(name) => Err(on_network(path, name)),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn local(_: &Path) -> Result<(), Error> {
    Ok(())
}

#[cfg(any(target_os = "linux", test))]
fn on_network(path: &Path, name: &str) -> Error {
    Error::unusable(format!(
        "{} lies on a network file system ({name}), whose locks and syncs cannot be relied on: put it on a disk of this machine",
        path.display()
    ))
}

/// Their numbers are in `statfs(2)`; the larger of them come with a sign where they have 32 bits.
#[cfg(any(target_os = "linux", test))]
fn network(magic: i64) -> Option<&'static str> {
    match magic & 0xFFFF_FFFF {
        0x6969 => Some("NFS"),
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x00C3_6400 => Some("Ceph"),
        0x5346_414F | 0x6B41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        const EXT4: i64 = 0xEF53;
        const TMPFS: i64 = 0x0102_1994;
        const FUSE: i64 = 0x6573_5546;
        assert_eq!(network(0x6969), Some("NFS"));
        assert_eq!(network(i64::from(0xFF53_4D42_u32.cast_signed())), Some("SMB"));
        assert_eq!([EXT4, TMPFS, FUSE].map(network), [None; 3]);
    }

    #[test]
    fn a_network_file_system_is_refused_by_name() {
        assert_eq!(
            on_network(Path::new("/mnt/inbox.db"), "NFS").to_string(),
            "/mnt/inbox.db lies on a network file system (NFS), whose locks and syncs cannot be relied on: put it on \
             a disk of this machine"
        );
    }
}
