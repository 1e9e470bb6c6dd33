use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use super::{
    database_file::{create_private, private, with_suffix},
    identity::{Identity, identity, of_metadata},
    register::{Registered, is_registered, open_already},
    validate::{regular, validate},
};
use crate::Error;

/// The lock file `-lock` beside a database. It excludes every other receiver and worker until it is dropped.
#[derive(Debug)]
pub(in crate::store::sqlite) struct Lock {
    name: PathBuf,
    identity: Option<Identity>,
    file: File,
    _registered: Registered,
}

impl Lock {
    /// Locks the database, and creates it if it does not exist.
    pub(in crate::store::sqlite) fn take(path: &Path) -> Result<Self, Error> {
        let name = with_suffix(path, "-lock");
        regular(&name)?;
        let file = without_links(private().create(true)).open(&name).map_err(|error| {
            let folder = path.parent().unwrap_or(path).display();
            Error::unusable(format!(
                "{} cannot be created: let this process write to {folder}",
                name.display()
            ))
            .because(error)
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                if is_registered(path) {
                    return Err(open_already(path));
                }
                return Err(Error::unusable(format!(
                    "another process uses {}, and holds the lock {}: stop it, or give each a file of its own",
                    path.display(),
                    name.display()
                )));
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::unusable(format!(
                    "{} cannot be locked: put the database on a disk whose file system has locks",
                    name.display()
                ))
                .because(error));
            }
        }
        let identity = file.metadata().ok().as_ref().and_then(of_metadata);
        // Until now another receiver could have the files.
        validate(path)?;
        create_private(path)?;
        Ok(Self { name, identity, file, _registered: Registered::new(path)? })
    }

    /// Refuses if the path no longer leads to the file that is locked: then another process could lock a new one.
    pub(in crate::store::sqlite) fn check(&self) -> Result<(), Error> {
        if identity(&self.name) == self.identity {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "the lock {} was removed or replaced, and no longer keeps a second receiver out: restart this one",
            self.name.display()
        )))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that this one is just starting may have the file open as well, and would keep the lock.
        let _ = self.file.unlock();
    }
}

/// A link that takes the place of the file at the last moment is not followed.
#[cfg(unix)]
fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
}

#[cfg(not(unix))]
fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
