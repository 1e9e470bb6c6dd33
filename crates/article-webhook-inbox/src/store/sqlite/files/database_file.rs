use std::{
    env,
    fs::{Metadata, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::Error;

/// The absolute path of a database, without links, so that one file has one lock.
pub(in crate::store::sqlite) fn resolve(path: &Path) -> Result<PathBuf, Error> {
    check_family(path, env::consts::FAMILY)?;
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

/// Refuses a system whose files have no identity: there a running inbox would not notice that its files were moved or replaced, and
/// could not take the rights of others away.
fn check_family(path: &Path, family: &str) -> Result<(), Error> {
    if family == "unix" {
        return Ok(());
    }
    Err(Error::unusable(format!(
        "{} cannot be an inbox, because no file can on {family}: what guards its files exists on Linux and macOS. Use PostgreSQL, with \
         article-webhook-postgres or by its URL in place of the file; or `Inbox::memory`, which ends with the process",
        path.display()
    )))
}

/// Creates the database, if it does not exist, so that its owner alone can read and write it.
pub(in crate::store::sqlite) fn create_private(path: &Path) -> Result<(), Error> {
    match private().create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::unusable(format!(
            "{} cannot be created: let this process write to its folder",
            path.display()
        ))
        .because(error)),
    }
}

/// Takes the rights of others away from the files of a database. Only for a file that is known to be one.
pub(in crate::store::sqlite) fn remove_rights_of_others(path: &Path) -> Result<(), Error> {
    for path in files(path) {
        make_private(&path).map_err(|error| {
            Error::unusable(format!(
                "others can read {}, and it cannot be changed: make it belong to this process's user",
                path.display()
            ))
            .because(error)
        })?;
    }
    Ok(())
}

/// The files of a database that others than its owner have rights on.
pub(super) fn open_to_others(path: &Path) -> Vec<PathBuf> {
    files(path)
        .into_iter()
        .filter(|path| path.metadata().is_ok_and(|metadata| !is_private(&metadata)))
        .collect()
}

fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| with_suffix(path, ending))
}

#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if is_private(&metadata) {
        return Ok(());
    }
    let mut permissions = metadata.permissions();
    permissions.set_mode(permissions.mode() & 0o700);
    std::fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Options for a file that its owner alone can read and write.
pub(in crate::store::sqlite) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The path with a suffix, such as `-wal`.
pub(in crate::store::sqlite) fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The size of the log beside a database.
pub(in crate::store::sqlite) fn wal_bytes(path: &Path) -> u64 {
    with_suffix(path, "-wal").symlink_metadata().map_or(0, |log| log.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_whose_files_have_no_identity_is_refused_with_the_way_out() {
        let path = Path::new("inbox.db");
        check_family(path, "unix").unwrap();
        assert_eq!(
            check_family(path, "windows").unwrap_err().to_string(),
            "inbox.db cannot be an inbox, because no file can on windows: what guards its files exists on Linux and macOS. Use \
             PostgreSQL, with article-webhook-postgres or by its URL in place of the file; or `Inbox::memory`, which ends with the process"
        );
    }
}
