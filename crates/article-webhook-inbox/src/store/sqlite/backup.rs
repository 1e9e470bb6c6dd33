//! Copies a database that may be in use, and puts such a copy in the place of a database.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use article_webhook::JobId;
use rusqlite::{Connection, backup::StepResult};

use super::{
    SqliteStore, change_counter,
    connection::{self, Access},
    damage::{self, Findings},
    fault::{Fault, RESTART},
    files::{self, Acknowledged, Lock, acknowledged_beside, private, with_suffix},
    folder::{Folder, cannot_be_written, ensure_new, sync_folder_of},
    opening::{has_log_of_another, refused},
    schema, tables, wal_identity,
};
use crate::{
    Error,
    call::{Expect, Reason},
    progress::Progress,
    rules::ExportLine,
    script::{Expecting, Export, Import, NoteGaps, ShowJob},
    timestamp::rounded,
};

/// The code of the reason for which the job of an article is expected that a backup does not have.
const MISSING: &str = "not_in_backup";

/// How many rows of the ledger a script adds.
const LINES_PER_SCRIPT: usize = 250;

/// How many pages are copied between two reports of the progress.
const PAGES_PER_STEP: i32 = 1000;

/// What a backup has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // more may be counted
pub struct Backup {
    /// Entries.
    pub entries: u64,
    /// Jobs of the ledger.
    pub jobs: u64,
    /// The size of the file, in bytes.
    pub bytes: u64,
}

/// What a [restore](SqliteStore::restore) has done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct Restored {
    /// What the restored inbox has.
    pub backup: Backup,
    /// Where the old database is now. Its log and its lock have the same name with their endings. `None` if there was no file.
    pub moved_to: Option<PathBuf>,
    /// The jobs with an entry in the old database that the backup does not have, in the order of their ids. The restored ledger
    /// expects them.
    pub missing: Vec<JobId>,
    /// Why more may be missing that was acknowledged: there is no old database, or another one, or it was not read whole. Then orders
    /// may be missing in the restored ledger, until [`Inbox::orders_checked`](crate::Inbox::orders_checked).
    pub unread: Option<String>,
    /// The backup is a copy of a file in use, without what was in the log: [`SqliteStore::backup`] makes no such copy. Orders may be
    /// missing as well.
    pub was_in_use: bool,
}

impl SqliteStore {
    /// Copies a database, also one that a receiver uses, into a new file. It blocks while it does so.
    ///
    /// The copy has everything that was acknowledged before the call. Its owner alone can read it. It is whole, by SQLite's own
    /// check, and says of itself that it is not in use, so that an inbox that is opened with it has nothing to warn of.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, SqliteStore};
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let folder = tempfile::tempdir()?;
    ///     let (file, copy) = (folder.path().join("inbox.db"), folder.path().join("copy.db"));
    ///     let inbox = Inbox::open(&file).await?;
    ///     inbox.accept(fixture::complete().delivery()?).await;
    ///
    ///     assert_eq!(SqliteStore::backup(&file, &copy)?.entries, 1);
    ///     let error = SqliteStore::backup(&file, &copy).unwrap_err();
    ///     assert!(error.to_string().ends_with("copy.db exists: name a new file"));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The copy exists; there is no inbox in the file; it is damaged, or lacks something that was acknowledged; or a disk failed
    /// or is full. Then there is no copy.
    pub fn backup(file: impl AsRef<Path>, copy: impl AsRef<Path>) -> Result<Backup, Error> {
        Self::backup_with(file, copy, &Progress::default())
    }

    /// As [`backup`](Self::backup), and says how far it is.
    ///
    /// # Errors
    ///
    /// As [`backup`](Self::backup).
    #[doc(hidden)]
    pub fn backup_with(
        file: impl AsRef<Path>,
        copy: impl AsRef<Path>,
        progress: &Progress,
    ) -> Result<Backup, Error> {
        let (file, copy) = (files::resolve(file.as_ref())?, files::resolve(copy.as_ref())?);
        ensure_new(&copy)?;
        ensure_there(&file, "database")?;
        files::validate(&file)?;
        let recorded = acknowledged_beside(&file);
        let source = connection::open(&file, Access::Shared)?;
        let folder = Folder::beside(&copy)?;
        let made = Duplicate::new(&source, &file, folder.path("inbox.db"), RESTART, progress)?;
        change_counter::validate(&made.connection, &file, recorded)?;
        let path = made.path.clone();
        let backup = made.finish()?;
        folder.move_out(&path, &copy, &[""])?;
        Ok(backup)
    }

    /// Puts a backup in the place of a database. It blocks while it does so.
    ///
    /// No receiver may use the database. Its files are moved away, and none is removed: the new name of each says
    /// `before-restore`. The backup is only read. If the file has tables of the application, they are restored with it.
    ///
    /// - What the old ledger knows and the backup does not is carried over, as far as it can be read. The jobs of entries that the
    ///   backup does not have are expected, so that a collector fetches their articles.
    /// - Jobs that the last receiver kept in its lock file stay there, for the next start.
    /// - An entry is in the state that it had when the backup was made. What was done since is handled again, and what was
    ///   erased since is there again. To take over what was done, [copy](crate::Inbox::copy_from) the old database into the restored
    ///   one before a worker runs.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, SqliteStore};
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let folder = tempfile::tempdir()?;
    ///     let (file, copy) = (folder.path().join("inbox.db"), folder.path().join("copy.db"));
    ///     let inbox = Inbox::open(&file).await?;
    ///     SqliteStore::backup(&file, &copy)?;
    ///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
    ///     assert!(SqliteStore::restore(&copy, &file).is_err(), "a receiver uses it");
    ///     inbox.close().await?;
    ///     drop(inbox);
    ///
    ///     let restored = SqliteStore::restore(&copy, &file)?;
    ///     assert_eq!(restored.missing[0].as_str(), "job_1");
    ///     assert!(restored.unread.is_none() && restored.moved_to.is_some_and(|old| old.exists()));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// A process uses the database; the backup is missing, is no inbox of this version, or is damaged; or a disk failed or is
    /// full. Unless the error says that files were moved, nothing was changed.
    pub fn restore(backup: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<Restored, Error> {
        let (backup, file) = (files::resolve(backup.as_ref())?, files::resolve(file.as_ref())?);
        ensure_there(&backup, "backup")?;
        files::validate(&backup)?;
        files::check_local(&file)?;
        if backup == file {
            let says = format!("{} is the database itself: name a backup first", file.display());
            return Err(Error::unusable(says));
        }
        let lock = Lock::hold(&file)?.ok_or_else(|| files::in_use(&file))?;
        let folder = Folder::beside(&file)?;
        let advice = format!(
            "restore another backup, or read what can be trusted with `article-webhook inbox salvage {} NEW`",
            backup.display()
        );
        let made = open_to_read(&backup).and_then(|source| {
            let path = folder.path("inbox.db");
            Duplicate::new(&source, &backup, path, &advice, &Progress::default())
        });
        let mut made = made.map_err(|error| match error.is_damaged() {
            // What refuses a database names a backup of it, and this is the backup.
            true if !error.to_string().ends_with(&advice) => {
                Error::damaged(format!("{} is no sound database: {advice}", backup.display()))
            }
            _ => error,
        })?;
        let (was_in_use, now) = (!made.was_stopped()?, rounded(SystemTime::now()));
        let newer = Newer::read(&file, &made.connection, lock.acknowledged(), now);
        made.add(&newer, now)?;
        let (path, counted) = (made.path.clone(), made.counted()?);
        let backup = made.finish()?;
        let Newer { missing, unread, .. } = newer;
        let missing = missing.into_iter().map(|expect| expect.job_id).collect();

        let moved_to = move_away(&file, &lock)?;
        // A start before the end of this would be refused, because the record says more.
        let put = fs::rename(&path, &file)
            .and_then(|()| sync_folder_of(&file))
            .and_then(|()| lock.set_acknowledged(counted))
            .and_then(|()| sync_folder_of(&file));
        put.map_err(|error| match &moved_to {
            Some(moved_to) => half_restored(&file, moved_to, error),
            None => cannot_be_written(&file, error),
        })?;
        Ok(Restored { backup, moved_to, missing, unread, was_in_use })
    }
}

fn ensure_there(file: &Path, what: &str) -> Result<(), Error> {
    match file.exists() {
        true => Ok(()),
        false => {
            Err(Error::unusable(format!("{} does not exist: name the {what}", file.display())))
        }
    }
}

/// A connection that leaves every file as it is.
fn open_to_read(path: &Path) -> Result<Connection, Error> {
    if files::wal_bytes(path) > 0 {
        return connection::open_for_checks(path);
    }
    connection::open_without_log(path).map_err(|error| connection::refused(path, &error))
}

/// A copy of a database, before it gets its name.
struct Duplicate {
    connection: Connection,
    path: PathBuf,
}

impl Duplicate {
    /// Copies a database, and checks the copy.
    fn new(
        source: &Connection,
        of: &Path,
        path: PathBuf,
        advice: &str,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let file = private().create_new(true).open(&path);
        file.map_err(|error| cannot_be_written(&path, error))?;
        let copy = || -> Result<Connection, Fault> {
            let mut copy = Connection::open(&path)?;
            // The copy may be on a file system of a network, which has no memory that connections share.
            copy.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
            // All steps copy what this transaction sees. Without it, each delivery that is stored would restart the copy.
            let snapshot = source.unchecked_transaction()?;
            snapshot.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
            let backup = rusqlite::backup::Backup::new(source, &mut copy)?;
            loop {
                match backup.step(PAGES_PER_STEP)? {
                    StepResult::Done => break,
                    StepResult::More => {}
                    _ => {
                        let says = format!(
                            "{} is locked by another program: end that program",
                            of.display()
                        );
                        return Err(Error::unavailable(says).into());
                    }
                }
                let pages = backup.progress();
                let [left, whole] =
                    [pages.remaining, pages.pagecount].map(i64::from).map(i64::unsigned_abs);
                progress.set(whole - left, whole);
            }
            drop(backup);
            snapshot.finish()?;
            // How long the check of the copy takes is not known.
            progress.set(0, 0);
            Ok(copy)
        };
        let connection = copy().map_err(|fault| refused(of, fault))?;
        schema::check_current(&connection, of)?;
        schema::validate(&connection, of)?;
        let found = damage::integrity(&connection).map_err(|fault| refused(of, fault))?;
        if let Some(finding) = found.first() {
            let says = format!("{} is damaged ({finding}): {advice}", of.display());
            return Err(Error::damaged(says));
        }
        Ok(Self { connection, path })
    }

    fn was_stopped(&self) -> Result<bool, Error> {
        Ok(wal_identity::was_stopped(&self.connection)?)
    }

    fn counted(&self) -> Result<Acknowledged, Error> {
        change_counter::read(&self.connection).map_err(|error| Fault::from(error).into())
    }

    /// Adds what the old database knows and this one does not. From now on this one is another database, so that a start never
    /// takes one for the other.
    fn add(&mut self, newer: &Newer, now: SystemTime) -> Result<(), Error> {
        let (connection, findings) = (&mut self.connection, Findings::silent());
        let mut add = || -> Result<(), Fault> {
            connection.execute_batch(
                "BEGIN IMMEDIATE; UPDATE article_inbox_meta SET value = random() WHERE name = 'database'",
            )?;
            for lines in newer.ledger.chunks(LINES_PER_SCRIPT) {
                tables::run(&Import(lines.to_vec()), connection, now, &findings)?;
            }
            for jobs in newer.missing.chunks(LINES_PER_SCRIPT) {
                tables::run(&Expecting(jobs.to_vec()), connection, now, &findings)?;
            }
            if newer.unread.is_some() || !wal_identity::was_stopped(connection)? {
                tables::run(&NoteGaps, connection, now, &findings)?;
            }
            Ok(connection.execute_batch("COMMIT")?)
        };
        add().map_err(|fault| refused(&self.path, fault))
    }

    /// Marks the copy as one that was stopped in order and has no log, and closes it.
    fn finish(self) -> Result<Backup, Error> {
        let Self { connection, path } = self;
        let finish = || -> Result<(u64, u64), Fault> {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            // A log of the original must not be taken for one of the copy.
            wal_identity::number_wal(&connection)?;
            wal_identity::mark_stop(&connection, 1)?;
            let count = |table| {
                let count = format!("SELECT count(*) FROM article_inbox_{table}");
                connection.query_row(&count, [], |row| row.get::<_, i64>(0))
            };
            let counts = (count("entries")?.unsigned_abs(), count("jobs")?.unsigned_abs());
            connection.execute_batch("COMMIT")?;
            connection.close().map_err(|(_, error)| error)?;
            Ok(counts)
        };
        let (entries, jobs) = finish().map_err(|fault| refused(&path, fault))?;
        let synced = File::open(&path).and_then(|file| {
            if files::wal_bytes(&path) > 0 {
                return Err(io::Error::other("its log could not be emptied"));
            }
            file.sync_all()?;
            Ok(file.metadata()?.len())
        });
        let bytes = synced.map_err(|error| cannot_be_written(&path, error))?;
        Ok(Backup { entries, jobs, bytes })
    }
}

/// What an old database knows and a backup does not.
#[derive(Default)]
struct Newer {
    ledger: Vec<ExportLine>,
    /// The jobs with an entry that the backup does not have, in the order of their ids.
    missing: Vec<Expect>,
    /// Why the old database may have had more than was read.
    unread: Option<String>,
}

impl Newer {
    /// Reads the old database, as far as it can be read.
    fn read(
        old: &Path,
        backup: &Connection,
        recorded: Option<Acknowledged>,
        now: SystemTime,
    ) -> Self {
        let mut newer = Self::default();
        if !old.exists() {
            newer.unread = Some("the old file is missing".to_owned());
            return newer;
        }
        let mut read = || {
            let mut connection = open_to_read(old)?;
            if has_log_of_another(&connection, old) {
                return Ok(Some("the log of the old file belongs to another database".to_owned()));
            }
            if !schema::exists(&connection)? {
                return Ok(Some("the old file has no inbox".to_owned()));
            }
            let (has, backed_up) =
                (change_counter::read(&connection)?, change_counter::read(backup)?);
            // What was restored before has another id as well, and counts on.
            let is_other = has.database != backed_up.database && has.changes < backed_up.changes;
            let unread = unread(&connection, recorded)?
                .or(is_other.then(|| "the old file is not the one that was backed up".to_owned()));
            let findings = Findings::silent();
            newer.read_ledger(&mut connection, now, &findings)?;
            newer.read_missing(&mut connection, backup, now, &findings)?;
            Ok(unread.or_else(|| findings.all().into_iter().next()))
        };
        newer.unread =
            read().unwrap_or_else(|_: Fault| Some("the old file cannot be read".to_owned()));
        newer
    }

    fn read_ledger(
        &mut self,
        old: &mut Connection,
        now: SystemTime,
        findings: &Findings,
    ) -> Result<(), Fault> {
        for part in [Export::Intents(0), Export::OpenJobs(0), Export::RemovedJobs(0)] {
            let mut next = Some(part);
            while let Some(part) = next {
                let page = tables::run(&part, old, now, findings)?;
                self.ledger.extend(page.items);
                next = page.next.and_then(|after| part.after(after));
            }
        }
        Ok(())
    }

    fn read_missing(
        &mut self,
        old: &mut Connection,
        backup: &Connection,
        now: SystemTime,
        findings: &Findings,
    ) -> Result<(), Fault> {
        for job_id in jobs_without_an_entry(old, backup)? {
            let job = tables::run(&ShowJob(job_id.clone()), old, now, findings)?;
            let expect = Expect::job(job_id, now);
            self.missing.push(match job {
                Some(job) => Expect { reason: job.reason, intent: job.intent, ..expect },
                None => Expect { reason: Reason::Refused { code: MISSING.into() }, ..expect },
            });
        }
        Ok(())
    }
}

/// The jobs of which the old database has an entry that the backup does not have, in the order of their ids.
fn jobs_without_an_entry(old: &Connection, backup: &Connection) -> Result<Vec<JobId>, Fault> {
    let has = "SELECT TRUE FROM article_inbox_entries WHERE job_id = ?1 AND event = ?2";
    let mut has = backup.prepare(has)?;
    let mut keys =
        old.prepare("SELECT job_id, event FROM article_inbox_entries ORDER BY job_id")?;
    let mut keys = keys.query([])?;
    let mut missing = Vec::new();
    while let Some(key) = keys.next()? {
        let (job_id, event): (String, String) = (key.get(0)?, key.get(1)?);
        if !has.exists([&job_id, &event])? {
            missing.extend(job_id.parse::<JobId>());
        }
    }
    missing.dedup();
    Ok(missing)
}

/// Why the old database may have had more that was acknowledged than can be read.
fn unread(old: &Connection, recorded: Option<Acknowledged>) -> Result<Option<String>, Fault> {
    let counted = change_counter::read(old)?;
    Ok(match recorded {
        Some(recorded) if recorded.database != counted.database => {
            Some("the old file is not the one that was used last".to_owned())
        }
        Some(recorded) if recorded.changes > counted.changes => {
            let lost = connection::last_changes(recorded.changes - counted.changes);
            Some(format!("the {lost} of the old file cannot be read"))
        }
        None if !wal_identity::was_stopped(old)? => {
            Some("no record shows which commit of the old file was the last".to_owned())
        }
        _ => damage::integrity(old)?.into_iter().next(),
    })
}

/// Moves the files of a database away, under a name that is free, and copies its lock file there. The lock itself stays. Returns the
/// new name; `None` if there is no file.
fn move_away(file: &Path, lock: &Lock) -> Result<Option<PathBuf>, Error> {
    const PARTS: [&str; 4] = ["-wal", "-shm", "-journal", ""];
    if PARTS.iter().all(|part| with_suffix(file, part).symlink_metadata().is_err()) {
        return Ok(None);
    }
    let name = |number: u32| match number {
        1 => with_suffix(file, "-before-restore"),
        _ => with_suffix(file, &format!("-before-restore-{number}")),
    };
    let is_free = |name: &PathBuf| ensure_new(name).is_ok();
    let away = (1..).map(name).find(is_free).unwrap_or_else(|| name(0));
    lock.copy_to(&with_suffix(&away, "-lock")).map_err(|error| cannot_be_written(&away, error))?;
    // The database goes last. Until then the log is missed, and after that the database: no start takes a part for the whole.
    for part in PARTS {
        let moved = fs::rename(with_suffix(file, part), with_suffix(&away, part));
        if let Err(error) = moved
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(half_restored(file, &away, error));
        }
    }
    Ok(Some(away))
}

/// The error for a restore that has moved files, and has put no other in their place.
fn half_restored(file: &Path, away: &Path, error: io::Error) -> Error {
    let (file, away) = (file.display(), away.display());
    Error::unavailable(format!(
        "files of {file} were moved to {away}, and the restore is not complete: look at the disk, move {away}, {away}-wal and \
         {away}-shm back, as far as they are there, and restore again"
    ))
    .because(error)
}
