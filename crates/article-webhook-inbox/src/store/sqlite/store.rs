use std::{fmt, path::Path, sync::Arc, time::SystemTime};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::{
    SqliteSettings, clock,
    connection::{self, Access, SecondWriter},
    damage::{self, Findings},
    fault::{Fault, RESTART},
    files::{self, Note, Notes},
    opening,
    reader::Length,
    schema, tables, wal_identity,
    writer::{Shared, store_has_stopped},
    writer_slot::WriterSlot,
};
use crate::{
    Error,
    call::{Completion, Expect, Finding, Lease, StoreHealth},
    script::{self, Effect, Script},
    store::{scripted::Run, store_trait::Pending},
    timestamp::{from_millis, rounded, to_millis},
};

/// A store in one SQLite file. Nothing needs to be installed, and every delivery is on disk before it is acknowledged.
///
/// One thread owns the only connection that writes. It commits all waiting calls in one transaction, so that concurrent
/// deliveries share one sync of the disk. Senders that were just answered may deliver again at once: a transaction waits for
/// them, for at most 150 µs and only if nothing but deliveries waits. Use it within a Tokio runtime. Clones share the store;
/// dropping the last one [closes](crate::store::Store::close) it and waits for that.
///
/// # Files
///
/// `open("inbox.db")` creates the file, readable for its owner alone. While it is open, `inbox.db-wal` and
/// `inbox.db-shm` are beside it. `inbox.db-lock` excludes a second receiver, and records how far deliveries were
/// acknowledged: never delete it, and move it with the others. A start that finds less in the database and its log is refused, and
/// one that finds no record beside a file in use warns. The database is in WAL
/// mode with `synchronous=FULL`. The file may belong to the application as well: all tables of the inbox begin with
/// `article_inbox_`, and a [completion](crate::store::Store::completion) runs in a transaction of the application.
///
/// A tool that lists, requeues or erases entries while the receiver runs opens the file with
/// [`open_shared`](Self::open_shared). A tool that only reads can use any SQLite.
///
/// While the store is open it watches its files. If the database, the log or the lock was moved, removed or replaced,
/// every call that writes fails with a transient error that says what to do, until the file is back. The first of these
/// calls may have been committed all the same: no commit is answered before that look.
///
/// # Readers
///
/// A program that reads for long delays no delivery, but the log grows meanwhile, because it cannot be emptied.
/// [`StoreHealth`] shows its size. Only after a crash or a failed sync must a reader of the old log end before the store
/// commits again: until then, calls that write fail with a transient error, and the store goes on by itself.
///
/// # Damage
///
/// A start runs SQLite's own check of the whole file, unless the last stop was clean, and no call and no
/// [check](crate::store::Store::check) had met damage: then it checks the intents of orders alone. If indexes differ from
/// their tables, all are built again, and a missing index is made. If more is damaged, the start is refused with what SQLite
/// found. A damaged row costs its entry alone: it is [corrupt](crate::State::Corrupt) when it is read, and the next delivery
/// repairs it. A job of the [ledger](crate::store::Store) with a damaged row stays in its state, and the outcome of such an
/// intent is unknown, unless it was ordered. A row that an index leads to by mistake, or whose job id cannot be read, is
/// passed over. A call that meets a damaged page fails. What was found is in the log, in [`StoreHealth::findings`], and in a
/// [check](crate::store::Store::check).
///
/// # Versions of SQLite
///
/// A second connection that writes needs SQLite 3.51.3, because in earlier versions a rare race can lose commits.
/// rusqlite bundles a new enough version from 0.39 on. With an older one, [`completion`](crate::store::Store::completion) and
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
    slot: Arc<WriterSlot>,
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
    /// or this one has it open already; it is on a network file system; it is damaged or not a database; it belongs to
    /// another version; its log belongs to another copy of the database, or has no database; something that was acknowledged is
    /// missing; a file is a link, or has two names;
    /// another program has put a trigger on a table of the inbox; the file cannot have the settings that durability needs; or the
    /// system has no identities of files, as Windows.
    ///
    /// A start that is refused has changed no file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, SqliteSettings::default())
    }

    /// Opens the file with settings. If another process uses it, the store can [wait](SqliteSettings::wait_for_lock) for it: then it
    /// is returned before it is open.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, settings: SqliteSettings) -> Result<Self, Error> {
        let (path, SqliteSettings { clock, wait_for_lock }) = (path.as_ref(), settings);
        let slot = match opening::exclusive(path, clock.clone())? {
            Some(writer) => Arc::new(WriterSlot::open(writer)),
            None if wait_for_lock.is_zero() => return Err(files::in_use(&files::resolve(path)?)),
            None => WriterSlot::wait(path, clock, wait_for_lock)?,
        };
        Ok(Self { slot })
    }

    /// Opens the file while another process receives and works: for a tool that lists, requeues or erases entries.
    ///
    /// It frees and claims no lease, does not change the schema, and leaves checkpoints to the other process, unless it
    /// [erases](crate::store::Store::erase) a job. Its clock is the system's.
    ///
    /// # Errors
    ///
    /// There is no such file; it belongs to another version; it is damaged, or lacks something that was acknowledged; or the
    /// linked SQLite is older than 3.51.3, in which two connections that write are not safe.
    pub fn open_shared(path: impl AsRef<Path>) -> Result<Self, Error> {
        let writer = opening::shared(path.as_ref())?;
        Ok(Self { slot: Arc::new(WriterSlot::open(writer)) })
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
        self.call(|connection| Ok(connection::settings(connection)?)).await
    }
}

impl SqliteStore {
    /// Runs a script on the connection that writes.
    pub(super) async fn write<S: Script>(&self, script: S) -> Result<S::Output, Error> {
        let (writer, effect) = (self.slot.writer()?, script.effect());
        if effect == Effect::Leases && writer.access == Access::Shared {
            return Err(Error::unusable(
                "a tool beside the receiver claims nothing: run worker and collector in the receiver's process",
            ));
        }
        let run = move |connection: &mut Connection, now, findings: &Findings| {
            let output = tables::run(&script, connection, now, findings)?;
            if effect == Effect::Prunes {
                clock::store(connection, now)?;
            }
            if let Effect::Prunes | Effect::Erases = effect {
                free_pages(connection)?;
            }
            Ok(output)
        };
        writer.calls.call(effect, run).await
    }

    /// Makes a call on the connection that writes.
    async fn call<T: Send + 'static>(
        &self,
        mut call: impl FnMut(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Error> {
        let run = move |connection: &mut Connection, _, findings: &Findings| {
            call(connection).inspect_err(|fault| tables::note_damage(fault, findings))
        };
        self.slot.writer()?.calls.call(Effect::Adds(0), run).await
    }

    /// Runs a script on a connection that reads, on a thread that may block.
    async fn read<S: Script>(&self, script: S, length: Length) -> Result<S::Output, Error> {
        let (writer, now) = (self.slot.writer()?, Run::now(self));
        blocking(move || {
            writer.check_open()?;
            let Shared { reader, findings, .. } = &writer.shared;
            reader.read(length, |connection| tables::run(&script, connection, now, findings))
        })
        .await
    }
}

/// Gives pages that nothing uses back to the file system. They are few, so that a commit stays short.
fn free_pages(connection: &Connection) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached("PRAGMA incremental_vacuum(2048)")?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Runs a call that blocks on a thread for such calls.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(call).await.map_err(|_| store_has_stopped())?
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.slot.path).finish_non_exhaustive()
    }
}

/// A job in the notes, as a line of JSON.
#[derive(Serialize, Deserialize)]
struct KeptJob {
    job_id: Box<str>,
    reason: Box<str>,
    at: i64,
    intent: Option<Box<str>>,
}

impl KeptJob {
    fn line(job: &Expect) -> Vec<u8> {
        let kept = Self {
            job_id: job.job_id.as_str().into(),
            reason: job.reason.to_string().into(),
            at: to_millis(job.at),
            intent: job.intent.clone(),
        };
        let mut line = serde_json::to_vec(&kept).unwrap_or_default();
        line.push(b'\n');
        line
    }

    fn expect(line: &[u8]) -> Option<Expect> {
        let Self { job_id, reason, at, intent } = serde_json::from_slice(line).ok()?;
        let (job_id, reason) = (job_id.parse().ok()?, reason.parse().ok()?);
        Some(Expect { job_id, reason, intent, at: from_millis(at), key: None })
    }
}

/// The jobs that a receiver has kept in its lock file.
pub(super) fn kept_jobs(notes: &Notes) -> Vec<Expect> {
    let text = notes.read(Note::Jobs);
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(KeptJob::expect).collect()
}

/// Why the receiver of this database can commit nothing, as it has left it in its lock file.
fn of_receiver(path: &Path) -> Option<Error> {
    let reason = Notes::beside(path)?.read(Note::Failure);
    let reason = String::from_utf8_lossy(&reason);
    // The note does not say of which kind the failure was. The receiver goes on by itself once its cause has ended.
    let failed = || Error::unavailable(format!("the receiver cannot commit: {reason}"));
    (!reason.is_empty()).then(failed)
}

impl Run for SqliteStore {
    fn now(&self) -> SystemTime {
        rounded(self.slot.clock.now())
    }

    fn write<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        Box::pin(self.write(script))
    }

    fn read<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        let length = if script.may_take_long() { Length::Long } else { Length::Quick };
        Box::pin(self.read(script, length))
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.slot.writer()?.check_open()?;
        connection::check_two_writers(SecondWriter {
            needs: "a completion in a transaction of the application's own",
            otherwise: "make the effects of the handler repeatable, with the job id as a unique key, and return Ok",
        })?;
        let complete = "UPDATE article_inbox_entries SET state = 'done', at = ?3, since = ?3 \
            WHERE id = ?1 AND fence = ?2 AND state = 'leased' AND at > ?3";
        Ok(Completion::new(complete, [lease.id, lease.fence, to_millis(Run::now(self))]))
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move {
            let settings =
                self.call(|connection| Ok(connection::wrong_settings(connection)?)).await?;
            let Shared { path, findings, .. } = self.slot.writer()?.shared.clone();
            let now = Run::now(self);
            let (damage, is_page_damaged) = blocking(move || {
                let mut connection = connection::open_reader(&path)?;
                let mut found = findings.of_log();
                found.extend(schema::differences(&connection)?);
                let pages = damage::integrity(&connection)?;
                let says = |line: &String| format!("SQLite's check found: {line}: {RESTART}");
                found.extend(pages.iter().map(says));
                if pages.is_empty() {
                    let of_check = Findings::silent();
                    let entries = tables::run(&script::Check, &mut connection, now, &of_check)?;
                    found.extend(of_check.all().into_iter().chain(entries));
                }
                Ok((found, !pages.is_empty()))
            })
            .await?;
            if is_page_damaged {
                // What follows the advice is a start that checks the file.
                let _ = self.call(|connection| wal_identity::note_damage(connection)).await;
            }
            let damage = damage.into_iter().map(Finding::Damage);
            Ok(settings.into_iter().map(Finding::Setting).chain(damage).collect())
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(self.call(|connection| {
            let probe = "INSERT OR REPLACE INTO article_inbox_meta (name, value) VALUES ('probe', zeroblob(16384))";
            connection.prepare_cached(probe)?.execute([])?;
            Ok(())
        }))
    }

    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async move {
            let writer = self.slot.writer()?;
            writer.check_open()?;
            let Shared { path, status, findings, .. } = writer.shared.clone();
            let is_tool = writer.access == Access::Shared;
            let (wal_bytes, blocked) = blocking(move || {
                let blocked = is_tool.then(|| of_receiver(&path)).flatten();
                Ok((files::wal_bytes(&path), blocked))
            })
            .await?;
            let (blocked, retention_from) = (blocked.or(status.blocked()), status.retention_from());
            let findings = findings.all();
            let next_start = status.next_start();
            let warnings = Vec::new();
            Ok(StoreHealth { wal_bytes, blocked, next_start, findings, warnings, retention_from })
        })
    }

    fn keep(&self, jobs: &[Expect]) -> usize {
        // Once it is closed, the lock file is another's.
        let Some(writer) = self.slot.writer().ok().filter(|writer| !writer.calls.is_closed())
        else {
            return 0;
        };
        let Shared { path, status, .. } = &writer.shared;
        let Some(notes) = status.notes().filter(|notes| notes.are_beside(path)) else { return 0 };
        let (mut text, mut kept) = (Vec::new(), 0);
        for job in jobs {
            let line = KeptJob::line(job);
            if text.len() + line.len() > Note::Jobs.room() {
                break;
            }
            text.extend(line);
            kept += 1;
        }
        if notes.write(Note::Jobs, &text).is_ok() { kept } else { 0 }
    }

    fn kept(&self) -> Option<Vec<Expect>> {
        let writer = self.slot.writer().ok()?;
        Some(writer.shared.status.notes().map(kept_jobs).unwrap_or_default())
    }

    fn opened(&self) -> Pending<'_, ()> {
        Box::pin(self.slot.opened())
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            if self.slot.end_wait() {
                return Ok(());
            }
            let writer = self.slot.writer()?;
            if !writer.calls.close() {
                return Err(Error::closed());
            }
            blocking(move || {
                writer.join();
                Ok(())
            })
            .await
        })
    }
}
