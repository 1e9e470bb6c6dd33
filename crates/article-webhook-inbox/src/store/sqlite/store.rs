mod dispatch;
mod ledger;

use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use self::dispatch::{CALL_BYTES, blocking};
use super::{
    SqliteSettings,
    connection::{self, SecondWriter},
    damage::Tx,
    files, opening, statements,
    writer::Handle,
};
use crate::{
    Body, Entry, EntryKey, Error, State,
    call::{
        Arrival, Claim, Claims, Completion, Counts, Excerpt, Filter, Finding, Lease, Outcome, Page,
        Prune, Pruned, Recorded, Settled, StoreHealth,
    },
    store::store_trait::{Pending, Store},
    timestamp::rounded,
};

/// A store in one SQLite file. Nothing needs to be installed, and every delivery is on disk before it is acknowledged.
///
/// One thread owns the only connection that writes. It commits all waiting calls in one transaction, so that concurrent
/// deliveries share one sync of the disk. Use it within a Tokio runtime. Clones share the store; dropping the last one
/// [closes](Store::close) it and waits for that.
///
/// # Files
///
/// `open("inbox.db")` creates the file, readable for its owner alone. While it is open, `inbox.db-wal` and
/// `inbox.db-shm` are beside it. `inbox.db-lock` excludes a second receiver: never delete it. The database is in WAL
/// mode with `synchronous=FULL`. The file may belong to the application as well: all tables of the inbox begin with
/// `article_inbox_`, and a [completion](Store::completion) runs in a transaction of the application.
///
/// A tool that lists, requeues or erases entries while the receiver runs opens the file with
/// [`open_shared`](Self::open_shared). A tool that only reads can use any SQLite.
///
/// While the store is open it watches its files. If the database, the log or the lock was moved, removed or replaced,
/// every call that writes fails with a transient error that says what to do. A log that was removed is first copied into
/// the database, so that nothing is lost.
///
/// # Readers
///
/// A program that reads for long delays no delivery, but the log grows meanwhile, because it cannot be emptied.
/// [`StoreHealth`] shows its size. Only after a crash or a failed sync must a reader of the old log end before the store
/// commits again: until then, calls that write fail with a transient error, and the store goes on by itself.
///
/// # Damage
///
/// A start looks for flipped bits. A damaged row costs its entry alone, and the next delivery mends it. A damaged row of the
/// [ledger](crate::store::Ledger) is written anew with what can be read of it, or removed if it names no job. Indexes are built
/// again from their tables. If pages of an index or the lists of free pages are damaged, the database is written anew in
/// memory, which takes twice its size, and replaced in one transaction; the application's rows keep their ids. Files over
/// 512 MiB are not written anew: what is damaged in their lists of free pages alone is mended by a copy that
/// `VACUUM INTO` makes, and other damaged pages by a backup. Only damage of a table's pages, of the schema or of the file's
/// header refuses the start of a smaller file. What was found is in the log, in [`StoreHealth::findings`], and in a [check](Store::check).
///
/// # Large files
///
/// A start of a file over 64 MiB looks only at the list of free pages, and at the pages of the entries and of their
/// indexes: less than a second for a million entries. Over 512 MiB it looks at the list alone, and is refused if that is
/// damaged. The rest is searched in the background after each start, by a thread that on Linux has the lowest priority: about four seconds of a processor
/// for a million entries. While the search reads pages the log cannot be emptied, and grows by what is delivered. From
/// 256 MiB on, the search gives way, and begins again two seconds later; each attempt lets the log grow twice as far. It
/// also gives way to calls that erase, up to eight times.
///
/// # Versions of SQLite
///
/// A second connection that writes needs SQLite 3.51.3, because in earlier versions a rare race can lose commits.
/// rusqlite bundles a new enough version from 0.39 on. With an older one, [`completion`](Store::completion) and
/// [`open_shared`](Self::open_shared) return an error that says so, and everything else works.
///
/// # Example
///
/// ```
/// use article_webhook_inbox::{SqliteStore, store::Store};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let folder = tempfile::tempdir()?;
///     let path = folder.path().join("inbox.db");
///     assert!(SqliteStore::open_shared(&path).is_err(), "no receiver has created the file");
///
///     let store = SqliteStore::open(&path)?;
///     assert_eq!(store.counts().await?.total(), 0);
///     let tool = SqliteStore::open_shared(&path)?;
///     assert_eq!(tool.counts().await?.total(), 0);
///
///     let error = SqliteStore::open(&path).unwrap_err();
///     assert!(error.to_string().starts_with("this process has"));
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    handle: Arc<Handle>,
}

impl SqliteStore {
    /// Opens the file, or creates it in an existing folder. It blocks while it does so.
    ///
    /// No other process may have the file open as a store. Leases in it are freed, because their owner has ended. An entry
    /// whose lease was freed twice in a row runs [alone](crate::store::Claiming) from then on, so that an entry that
    /// crashes the process does not use up the attempts of the others.
    ///
    /// # Errors
    ///
    /// Each names the file and what to do: the folder is missing or cannot be written to; another process uses the file,
    /// or this one has it open already; it is on a network file system; it is damaged or not a database; it belongs to a
    /// newer version; its log belongs to another copy of the database, or has no database; a file is a link, or has two names;
    /// another program has put a trigger on a table of the inbox; or the file cannot have the settings that durability needs.
    ///
    /// A start that is refused has changed neither the database nor its log.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, SqliteSettings::default())
    }

    /// Opens the file with settings.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, settings: SqliteSettings) -> Result<Self, Error> {
        let handle = opening::exclusive(path.as_ref(), settings.clock)?;
        Ok(Self { handle: Arc::new(handle) })
    }

    /// Opens the file while another process receives and works: for a tool that lists, requeues or erases entries.
    ///
    /// It frees and claims no lease, does not change the schema, and leaves checkpoints to the other process, unless it
    /// [forgets](Store::forget) a job. Its clock is the system's.
    ///
    /// # Errors
    ///
    /// There is no such file; it belongs to another version; it is damaged; or the linked SQLite is older than 3.51.3,
    /// in which two connections that write are not safe.
    pub fn open_shared(path: impl AsRef<Path>) -> Result<Self, Error> {
        let handle = opening::shared(path.as_ref())?;
        Ok(Self { handle: Arc::new(handle) })
    }

    /// The version of the linked SQLite.
    #[must_use]
    pub fn sqlite_version() -> &'static str {
        rusqlite::version()
    }

    /// The settings on which durability depends, as SQLite reports them for the connection that writes: names and values.
    ///
    /// # Errors
    ///
    /// The store is closed, or cannot write.
    pub async fn settings(&self) -> Result<Vec<(&'static str, String)>, Error> {
        self.write(CALL_BYTES, |tx| Ok(connection::settings(tx)?)).await
    }
}

/// The memory that a call with these bodies takes while it waits.
fn size<'a>(bodies: impl IntoIterator<Item = &'a bytes::Bytes>) -> usize {
    bodies.into_iter().map(|bytes| CALL_BYTES + bytes.len()).sum()
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.handle.path).finish_non_exhaustive()
    }
}

impl Store for SqliteStore {
    fn now(&self) -> SystemTime {
        rounded(self.handle.clock.now())
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        let bytes = size([&arrival.bytes]);
        self.write(bytes, move |tx| statements::record(tx, &arrival))
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        if let Err(error) = self.has_exclusive_access("worker") {
            return Box::pin(async move { Err(error) });
        }
        self.lease(move |tx| statements::claim(tx, &claim), statements::release)
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        let leases = leases.to_vec();
        self.write(CALL_BYTES, move |tx| statements::extend(tx, &leases, lease))
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        self.write(CALL_BYTES, move |tx| statements::settle(tx, lease, &outcome))
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.handle.check_open()?;
        connection::check_two_writers(SecondWriter {
            needs: "a completion in a transaction of the application's own",
            otherwise: "make the effects of the handler repeatable, with the job id as a unique key, and return Ok",
        })?;
        Ok(statements::completion(lease, self.now()))
    }

    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        self.write(statements::PRUNE_BYTES, move |tx| {
            statements::store_clock(tx, tx.now())?;
            statements::prune(tx, &prune)
        })
    }

    fn counts(&self) -> Pending<'_, Counts> {
        self.read(|tx| statements::counts(tx))
    }

    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        self.read_quickly(statements::due_since)
    }

    fn list(&self, filter: Filter) -> Pending<'_, Page> {
        match statements::is_quick(&filter) {
            true => self.read_quickly(move |tx| statements::list(tx, &filter)),
            false => self.read(move |tx| statements::list(tx, &filter)),
        }
    }

    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        self.read(move |tx| statements::show(tx, &key))
    }

    fn excerpts(&self, keys: Vec<EntryKey>, bytes: usize) -> Pending<'_, Vec<Option<Excerpt>>> {
        self.read_quickly(move |tx| statements::excerpts(tx, &keys, bytes))
    }

    fn requeue(&self, key: EntryKey, from: Option<State>) -> Pending<'_, bool> {
        self.write(CALL_BYTES, move |tx| statements::requeue(tx, &key, from))
    }

    fn bury(&self, key: EntryKey, cause: String) -> Pending<'_, bool> {
        self.write(CALL_BYTES, move |tx| statements::bury(tx, &key, &cause))
    }

    fn forget(&self, job_id: JobId) -> Pending<'_, u64> {
        self.erase(move |tx| statements::forget(tx, &job_id))
    }

    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool> {
        let bytes = CALL_BYTES + size(bodies.iter().filter_map(|body| body.bytes.as_ref()));
        self.write(bytes, move |tx| statements::import(tx, &entry, &bodies))
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move {
            let settings = |tx: &Tx<'_>| Ok(connection::wrong_settings(tx)?);
            let settings = self.write(CALL_BYTES, settings).await?;
            let (path, findings, now) =
                (self.handle.path.clone(), self.handle.findings.clone(), self.now());
            let check = move || {
                let connection = connection::open_reader(&path)?;
                statements::check(&Tx::new(&connection, &findings, now))
            };
            let damage = blocking(check).await?;
            let damage = self.handle.findings.of_log().into_iter().chain(damage);
            let settings = settings.into_iter().map(Finding::Setting);
            Ok(settings.chain(damage.map(Finding::Damage)).collect())
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        self.write(CALL_BYTES, |tx| statements::probe(tx))
    }

    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async move {
            self.handle.check_open()?;
            let (path, status) = (self.handle.path.clone(), self.handle.status.clone());
            let wal_bytes = blocking(move || Ok(files::wal_bytes(&path))).await?;
            let (steady_since, clock_step) = self.handle.clock_watch.steady_since();
            let steady_since = Some(steady_since);
            let (blocked, findings) = (status.blocked(), self.handle.findings.all());
            Ok(StoreHealth { wal_bytes, blocked, findings, steady_since, clock_step })
        })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            if !self.handle.queue.close() {
                return Err(Error::closed());
            }
            let handle = Arc::clone(&self.handle);
            blocking(move || {
                handle.join();
                Ok(())
            })
            .await
        })
    }
}
