use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::{
    acknowledged::{Acknowledged, Record},
    database_file::{create_private, private, with_suffix},
    identity::{Identity, identity, of_metadata},
    notes::Notes,
    positioned::{read_at, write_at},
    register::{Registered, is_registered, open_already},
    validate::{regular, validate},
};
use crate::Error;

/// The lock file `-lock` beside a database. It excludes every other receiver and worker until it is dropped, and records how
/// far they have acknowledged.
#[derive(Debug)]
pub(in crate::store::sqlite) struct Lock {
    name: PathBuf,
    identity: Option<Identity>,
    file: File,
    registered: Option<Registered>,
}

impl Lock {
    /// Locks the database, and creates it if it does not exist. `None`: another process uses it.
    pub(in crate::store::sqlite) fn take(path: &Path) -> Result<Option<Self>, Error> {
        let Some(mut lock) = Self::hold(path)? else { return Ok(None) };
        // Until now another receiver could have the files.
        validate(path)?;
        if path.metadata().is_ok_and(|database| database.len() > 0) || lock.acknowledged().is_none()
        {
            create_private(path)?;
        } else {
            return Err(missing(path, &lock.name));
        }
        lock.registered = Some(Registered::new(path)?);
        Ok(Some(lock))
    }

    /// Locks the database, whatever is at its path. `None`: another process uses it.
    pub(in crate::store::sqlite) fn hold(path: &Path) -> Result<Option<Self>, Error> {
        let name = with_suffix(path, "-lock");
        let is_there = regular(&name)?.is_some();
        let file = without_links(private().create(true)).open(&name).map_err(|error| {
            let (folder, name) = (path.parent().unwrap_or(path).display(), name.display());
            let why = if is_there {
                format!("{name} cannot be opened: make it belong to this process's user")
            } else {
                format!("{name} cannot be created: let this process write to {folder}")
            };
            Error::unusable(why).because(error)
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                if is_registered(path) {
                    return Err(open_already(path));
                }
                return Ok(None);
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
        Ok(Some(Self { name, identity, file, registered: None }))
    }

    /// How far was acknowledged, as far as that is recorded.
    pub(in crate::store::sqlite) fn acknowledged(&self) -> Option<Acknowledged> {
        read(&self.file)
    }

    /// Records how far was acknowledged, without a sync.
    pub(in crate::store::sqlite) fn set_acknowledged(
        &self,
        acknowledged: Acknowledged,
    ) -> io::Result<()> {
        write_at(&self.file, 0, &acknowledged.to_record())
    }

    /// Copies the file, so that the record stays beside a database that is moved away.
    pub(in crate::store::sqlite) fn copy_to(&self, name: &Path) -> io::Result<()> {
        fs::copy(&self.name, name).map(drop)
    }

    /// The notes in the file. `None` if there is no room for them.
    pub(in crate::store::sqlite) fn notes(&self) -> Option<Notes> {
        Notes::of_owner(&self.file).ok()
    }

    /// Refuses if the path no longer leads to the file that is locked: then another process could lock a new one.
    pub(in crate::store::sqlite) fn check(&self) -> Result<(), Error> {
        if identity(&self.name) == self.identity {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "the lock {} was removed or replaced, and no longer keeps a second receiver out: restart this receiver",
            self.name.display()
        )))
    }
}

/// The error for a process that may not open the database, because another process uses it.
pub(in crate::store::sqlite) fn in_use(path: &Path) -> Error {
    let path = path.display();
    Error::unusable(format!(
        "another process uses {path}, and holds the lock {path}-lock: stop that process first. Worker and collector run in the receiver's process, or \
         several processes share an inbox with article-webhook-postgres. `SqliteSettings::wait_for_lock` and `article-webhook listen \
         --wait` wait until that process has ended; a tool opens the file with `SqliteStore::open_shared`"
    ))
}

/// Keeps a receiver away from a database whose files stay as they are.
#[derive(Debug)]
pub(in crate::store::sqlite) struct ReadLock(Option<File>);

impl ReadLock {
    /// Takes the lock, if there is a lock file.
    pub(in crate::store::sqlite) fn take(path: &Path) -> Result<Self, Error> {
        if is_registered(path) {
            return Err(open_already(path));
        }
        let name = with_suffix(path, "-lock");
        if regular(&name)?.is_none() {
            return Ok(Self(None));
        }
        let lock = File::open(&name).and_then(|file| match file.try_lock() {
            Err(TryLockError::Error(error)) => Err(error),
            Err(TryLockError::WouldBlock) => Ok(None),
            Ok(()) => Ok(Some(file)),
        });
        match lock {
            Ok(Some(file)) => Ok(Self(Some(file))),
            Ok(None) => Err(Error::unusable(format!(
                "another process uses {}, and holds the lock {}: stop that process first",
                path.display(),
                name.display()
            ))),
            Err(error) => Err(Error::unusable(format!(
                "{} cannot be read or locked: let this process read it",
                name.display()
            ))
            .because(error)),
        }
    }

    /// How far was acknowledged, as far as that is recorded.
    pub(in crate::store::sqlite) fn acknowledged(&self) -> Option<Acknowledged> {
        read(self.0.as_ref()?)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that this one is just starting may have the file open as well, and would keep the lock.
        let _ = self.file.unlock();
    }
}

/// How far was acknowledged, by the lock file beside a database that may be in use.
pub(in crate::store::sqlite) fn acknowledged_beside(path: &Path) -> Option<Acknowledged> {
    read(&File::open(with_suffix(path, "-lock")).ok()?)
}

/// The record of a lock file; `None` if there is none that can be read.
fn read(file: &File) -> Option<Acknowledged> {
    let mut record = Record::default();
    read_at(file, 0, &mut record).ok()?;
    Acknowledged::from_record(&record)
}

/// The error for a lock whose database is gone.
fn missing(path: &Path, lock: &Path) -> Error {
    let (path, lock) = (path.display(), lock.display());
    Error::damaged(format!(
        "the database {path} is missing or empty, and {lock} records that there was one: put it back; or restore a backup with \
         `article-webhook inbox restore BACKUP {path}`; or, to start with an empty inbox, move {lock} away"
    ))
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
