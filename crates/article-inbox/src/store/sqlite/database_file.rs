use std::{
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
};

use crate::Error;

/// The absolute path of a database, without links, so that one file has one lock.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, Error> {
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

/// The device and inode of a file. They distinguish it from another file of the same name.
pub(super) type Identity = (u64, u64);

/// The identity of the file at this path. The file is not opened: closing it would release the locks that this process
/// holds on it.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(_: &Path) -> Option<Identity> {
    None
}

/// Creates the file if it is missing, readable for its owner alone. An existing file loses the rights of other users.
///
/// An existing file is never opened here: closing it would release the locks that this process holds on it.
pub(super) fn create_private(path: &Path) -> Result<(), Error> {
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
    for path in [path.to_owned(), with_suffix(path, "-wal"), with_suffix(path, "-shm")] {
        remove_rights_of_others(&path).map_err(|error| {
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
fn remove_rights_of_others(path: &Path) -> io::Result<()> {
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
fn remove_rights_of_others(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Options for a file that its owner alone can read and write.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The path with a suffix, such as `-wal`.
pub(super) fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
