mod check;
mod claim;
mod connection;
mod fault;
mod handle;
mod line;
mod list;
mod place;
mod prune;
mod reader;
mod record;
mod rows;
mod schema;
mod settle;
mod sql;
mod writer;

use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use rusqlite::Connection;

use self::{connection::Role, fault::Fault, handle::Handle, line::lost};
use super::{
    Arrival, Claim, Claims, Completion, Counts, Filter, Hint, Lease, Outcome, Page, Pending, Prune,
    Pruned, Recorded, Settled, Store,
};
use crate::{Body, Clock, Entry, Error, Key};

/// Keeps entries in one SQLite file: nothing to install, and on disk before anybody is answered.
///
/// One thread owns the only connection that writes, and commits everything that waits in one transaction, so that
/// concurrent deliveries share one sync of the disk. The file may be the application's own: all tables begin with
/// `article_inbox_`, and a [completion](Store::completion) runs in a transaction of the application.
///
/// It is used within a Tokio runtime. Clones are the same store; dropping the last one
/// [closes](Store::close) it, and waits for that.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use article_inbox::{Counts, SqliteStore, State, Store};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("inbox.db");
/// let store = SqliteStore::open(&path)?;
/// assert_eq!(store.counts().await?.total(), 0);
///
/// let error = SqliteStore::open(&path).unwrap_err();
/// assert!(error.to_string().starts_with("another process uses"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    handle: Arc<Handle>,
}

/// How a [`SqliteStore`] is set up, where the defaults will not do.
///
/// ```
/// use std::time::SystemTime;
/// use article_inbox::{Clock, SqliteSettings, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let settings = SqliteSettings::default().clock(Clock::stepped(SystemTime::UNIX_EPOCH));
/// assert!(SqliteStore::open_with(folder.path().join("inbox.db"), settings.clone()).is_ok());
/// assert!(SqliteStore::open_with(folder.path(), settings).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SqliteSettings {
    clock: Clock,
}

impl SqliteSettings {
    /// Reads the time there; the system's clock by default.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use article_inbox::{Clock, SqliteSettings};
    ///
    /// let settings = SqliteSettings::default().clock(Clock::stepped(SystemTime::UNIX_EPOCH));
    /// assert_eq!(format!("{settings:?}"), "SqliteSettings { clock: Clock(stepped) }");
    /// ```
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock }
    }
}

impl SqliteStore {
    /// Opens the file, or makes it; the folder must be there. Nobody else may have it open as a store: leases that
    /// it holds are freed, because their owner is gone; those of entries that were cut off before, some seconds apart, so
    /// that one which ends the process does not take the others along. It blocks while it does so.
    ///
    /// ```
    /// use article_inbox::SqliteStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// assert!(SqliteStore::open(folder.path().join("inbox.db")).is_ok());
    ///
    /// let error = SqliteStore::open(folder.path().join("missing/inbox.db")).unwrap_err();
    /// assert!(error.to_string().contains("missing does not exist"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Each names the file and what to do: the folder is missing, or cannot be written to; another process uses
    /// the file; it lies on a network file system; it is damaged, or no database; it belongs to a newer version;
    /// or it cannot have the settings on which durability rests.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, SqliteSettings::default())
    }

    /// Opens the file with settings.
    ///
    /// ```
    /// use article_inbox::{SqliteSettings, SqliteStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// assert!(SqliteStore::open_with(folder.path().join("a.db"), SqliteSettings::default()).is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, settings: SqliteSettings) -> Result<Self, Error> {
        let path = place::resolved(path.as_ref())?;
        place::local(&path)?;
        let lock = place::locked(&path)?;
        place::secured(&path)?;
        let mut connection = connection::writing(&path, Role::Owner)?;
        connection::quick_check(&connection, &path)?;
        schema::migrate(&mut connection, &path)?;
        if let Some(difference) = schema::differences(&connection)?.first() {
            return Err(Error::damaged(format!(
                "{}: {difference}: restore a backup, or undo the change",
                path.display()
            )));
        }
        schema::settle_in(&connection, &path, rows::millis(settings.clock.now()))?;
        let handle = Handle::start(path, settings.clock, connection, Role::Owner, Some(lock))?;
        Ok(Self { handle: Arc::new(handle) })
    }

    /// Opens the file beside the process that receives and works: for a tool that looks, requeues or removes.
    /// It frees and claims no lease, changes no schema, and leaves the log to the other, unless it has a job
    /// [forgotten](Store::forget). Its clock is the system's.
    ///
    /// ```
    /// use article_inbox::SqliteStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("inbox.db");
    /// assert!(SqliteStore::beside(&path).is_err());
    ///
    /// let _receiver = SqliteStore::open(&path).unwrap();
    /// let _tool = SqliteStore::beside(&path).unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such file; it belongs to another version; it is damaged; or the linked SQLite is older than
    /// 3.51.3, in which two connections that write are not safe.
    pub fn beside(path: impl AsRef<Path>) -> Result<Self, Error> {
        connection::two_writers("a tool beside the receiver")?;
        let path = place::resolved(path.as_ref())?;
        if !path.exists() {
            return Err(Error::unusable(format!(
                "{} does not exist: name the receiver's database, and start the receiver first",
                path.display()
            )));
        }
        place::local(&path)?;
        let connection = connection::writing(&path, Role::Guest)?;
        schema::current(&connection, &path)?;
        let handle = Handle::start(path, Clock::system(), connection, Role::Guest, None)?;
        Ok(Self { handle: Arc::new(handle) })
    }

    /// Runs in the next transaction of the writer.
    fn write<'a, T: Send + 'static>(
        &'a self,
        bytes: usize,
        run: impl FnMut(&Connection, i64) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<'a, T> {
        Box::pin(
            async move { self.handle.line.push(bytes, false, run)?.await.map_err(|_| lost())? },
        )
    }

    /// Runs on the connection that reads, where it may block.
    fn read<'a, T: Send + 'static>(
        &'a self,
        run: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            self.handle.open()?;
            let reader = self.handle.reader.clone();
            blocking(move || reader.read(run)).await
        })
    }
}

/// What a call without a body holds in memory.
const SMALL: usize = 512;

async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(run).await.map_err(|_| lost())?
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.handle.path).finish_non_exhaustive()
    }
}

impl Store for SqliteStore {
    fn now(&self) -> SystemTime {
        rows::time(rows::millis(self.handle.clock.now()))
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        let bytes = record::size(Some(&arrival.bytes));
        self.write(bytes, move |tx, now| record::record(tx, now, &arrival))
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        if self.handle.role == Role::Guest {
            // It would take the leases of the worker that the lock file lets in.
            let alone =
                "a tool beside the receiver has no worker: run it in the receiver's process";
            return Box::pin(async move { Err(Error::unusable(alone)) });
        }
        self.write(SMALL, move |tx, now| claim::claim(tx, now, &claim))
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        let leases = leases.to_vec();
        self.write(SMALL, move |tx, now| claim::extend(tx, now, &leases, lease))
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        self.write(SMALL, move |tx, now| settle::settle(tx, now, lease, &outcome))
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.handle.open()?;
        connection::two_writers("a completion in a transaction of the application's own")?;
        let now = rows::millis(self.handle.clock.now());
        Ok(Completion::new(sql::COMPLETE, [lease.id, lease.fence, now]))
    }

    fn hint(&self, hint: Hint) -> Pending<'_, ()> {
        self.write(SMALL, move |tx, _| list::hint(tx, &hint))
    }

    fn hints(&self, limit: u32) -> Pending<'_, Vec<Hint>> {
        self.read(move |tx| list::hints(tx, limit))
    }

    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        self.write(connection::PRUNE_BYTES, move |tx, _| prune::prune(tx, &prune))
    }

    fn counts(&self) -> Pending<'_, Counts> {
        self.read(list::counts)
    }

    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        let clock = self.handle.clock.clone();
        self.read(move |tx| Ok(list::due_since(tx, rows::millis(clock.now()))?.map(rows::time)))
    }

    fn list(&self, filter: Filter) -> Pending<'_, Page> {
        self.read(move |tx| list::list(tx, &filter))
    }

    fn show(&self, key: Key) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        self.read(move |tx| list::show(tx, &key))
    }

    fn requeue(&self, key: Key) -> Pending<'_, bool> {
        self.write(SMALL, move |tx, now| settle::requeue(tx, now, &key))
    }

    fn bury(&self, key: Key, cause: String) -> Pending<'_, bool> {
        self.write(SMALL, move |tx, now| settle::bury(tx, now, &key, &cause))
    }

    fn forget(&self, job_id: JobId) -> Pending<'_, u64> {
        Box::pin(async move {
            let forget = move |tx: &Connection, _| prune::forget(tx, &job_id);
            self.handle.line.push(SMALL, true, forget)?.await.map_err(|_| lost())?
        })
    }

    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool> {
        let bytes = bodies.iter().map(|body| record::size(body.bytes.as_ref())).sum();
        self.write(bytes, move |tx, now| record::import(tx, now, &entry, &bodies))
    }

    fn check(&self) -> Pending<'_, Vec<String>> {
        Box::pin(async move {
            let settings = self.write(SMALL, |tx, _| Ok(connection::wrong_settings(tx)?)).await?;
            let path = self.handle.path.clone();
            let damage = blocking(move || check::check(&path)).await?;
            Ok(settings.into_iter().chain(damage).collect())
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        self.write(SMALL, |tx, _| Ok(tx.prepare_cached(sql::PROBE)?.execute([]).map(drop)?))
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            if !self.handle.line.close() {
                return Err(Error::closed());
            }
            let handle = self.handle.clone();
            blocking(move || {
                handle.join();
                Ok(())
            })
            .await
        })
    }
}
