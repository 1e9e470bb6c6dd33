use std::path::{Path, PathBuf};

use super::{
    database_file::{open_to_others, resolve},
    file_system::{ON_FUSE, check_local, easily_lost},
    validate::validate,
};
use crate::Error;

/// The location of a database, as a [`SqliteStore`](crate::SqliteStore) checks it before it opens it: for a tool that reports
/// what is wrong with a set-up. Nothing is opened, created or changed.
///
/// ```
/// use article_webhook_inbox::SqliteLocation;
///
/// let folder = tempfile::tempdir()?;
/// let location = SqliteLocation::inspect(folder.path().join("inbox.db"))?;
/// assert!(!location.exists && location.open_to_others.is_empty());
///
/// let error = SqliteLocation::inspect(folder.path()).unwrap_err();
/// assert!(error.to_string().ends_with("is a folder: name a file in it"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct SqliteLocation {
    /// The absolute path of the database, without links.
    pub path: PathBuf,
    /// Whether there is a database. If not, a receiver makes it.
    pub exists: bool,
    /// The files of the database on which others than their owner have rights. A receiver takes them away when it starts.
    pub open_to_others: Vec<PathBuf>,
    /// Why the database may be lost although its disk is well, such as "is in memory, …": without the subject, and with what to do
    /// behind a colon. A receiver warns of it when it starts.
    pub easily_lost: Option<&'static str>,
    /// Whether the database is lost in any case, once the machine or the container stops or is removed.
    pub is_temporary: bool,
}

impl SqliteLocation {
    /// Inspects the location of a database.
    ///
    /// # Errors
    ///
    /// Why a start would be refused, as far as that is known without opening a file: the folder is missing, it is on a
    /// network file system, or a file is a link, has two names, or is a log without its database.
    pub fn inspect(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = resolve(path.as_ref())?;
        check_local(&path)?;
        validate(&path)?;
        let open_to_others = open_to_others(&path);
        let easily_lost = easily_lost(&path);
        let is_temporary = easily_lost.is_some_and(|why| why != ON_FUSE);
        Ok(Self { exists: path.exists(), open_to_others, easily_lost, is_temporary, path })
    }
}
