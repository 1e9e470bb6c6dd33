//! Reads what can be trusted of a damaged database into a new one. The damaged files are never written.

mod log;
mod source;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use article_webhook::JobId;
use rusqlite::Connection;

use self::{
    log::{Commits, Log},
    source::{Found, Source, page_size},
};
use super::{
    SqliteStore,
    connection::PAGE_BYTES,
    files::{self, Acknowledged, Notes, ReadLock, with_suffix},
    folder::{Folder, cannot_be_written, ensure_new},
    schema,
    store::kept_jobs,
};
use crate::{
    EntryKey, Error, JobState,
    call::{Expect, Reason},
    progress::Progress,
    rules::{ExportLine, JobLine, JobRow},
    script::{Begin, Expecting, Import, Mark, NoteGaps, Pause, Script},
    timestamp::rounded,
};

/// The code of the reason for which the job of a lost article is expected.
const LOST: &str = "damaged";

/// How many lines are written in one transaction, and how many bytes of bodies.
const LINES_PER_TRANSACTION: usize = 250;
const BYTES_PER_TRANSACTION: usize = 4 << 20;

/// What a [salvage](SqliteStore::salvage) has kept and lost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be counted
pub struct Salvaged {
    /// Entries that were kept: with a body that is what was received, done, or doubtful.
    pub entries: u64,
    /// How many of them are dead now, because it is not known whether they were done: the newest that was stored about them
    /// may be lost. Their cause says so. Look whether each was published, and requeue the others.
    pub doubtful: u64,
    /// Jobs and intents of the ledger that were kept.
    pub ledger: u64,
    /// The jobs of which an article or a part of an entry is lost, in the order of their ids. The new ledger expects them; one
    /// whose entry is doubtful and has no body is expected once that is requeued.
    pub lost: Vec<JobId>,
    /// There may be lost entries whose jobs cannot be named: compare with a list of your own.
    pub may_lack_names: bool,
    /// Changes that were acknowledged and cannot be read: new rows, and transactions that added none. `None` if their
    /// number is not known.
    pub lost_changes: Option<u64>,
    /// Orders may be missing in the ledger, until [`Inbox::orders_checked`](crate::Inbox::orders_checked).
    pub ledger_has_gaps: bool,
}

impl Salvaged {
    /// Whether everything was kept as it was.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let Self { doubtful, lost, may_lack_names, lost_changes, ledger_has_gaps, .. } = self;
        *doubtful == 0
            && lost.is_empty()
            && !may_lack_names
            && *lost_changes == Some(0)
            && !ledger_has_gaps
    }
}

impl SqliteStore {
    /// Reads what can be trusted of a damaged database, and of its log, into a new one. It blocks while it does so.
    ///
    /// The damaged files are only read, and no receiver may use them. The work is done on copies, in a folder beside the new
    /// file, which needs three times the space of the damaged files.
    ///
    /// - A row is kept if its checksum is right, and a body if it has its digest. The job of an article that is lost is
    ///   expected by the new ledger, so that a collector fetches it.
    /// - What is done stays done. If the newest state of an entry may be lost, and it is not known to be done, it is dead,
    ///   with the cause `salvaged: look whether it was published`, even if its bodies are lost: nothing is handled twice.
    /// - If anything of the ledger is lost, an intent that is not found has an unknown outcome, until it is ordered again by its
    ///   name, or until [`Inbox::orders_checked`](crate::Inbox::orders_checked): nothing is ordered twice.
    /// - A pause of claims holds in the new file.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, SqliteStore, State};
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let folder = tempfile::tempdir()?;
    ///     let (damaged, new) = (folder.path().join("inbox.db"), folder.path().join("new.db"));
    ///     let inbox = Inbox::open(&damaged).await?;
    ///     inbox.accept(fixture::complete().delivery()?).await;
    ///     let error = SqliteStore::salvage(&damaged, &new).unwrap_err();
    ///     assert!(error.to_string().contains("open already"), "no receiver may use it");
    ///     inbox.close().await?;
    ///     drop(inbox);
    ///
    ///     let salvaged = SqliteStore::salvage(&damaged, &new)?;
    ///     assert!(salvaged.is_whole() && salvaged.entries == 1);
    ///     assert_eq!(Inbox::open(&new).await?.counts().await?.of(State::Waiting), 1);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// A process uses the damaged file; the new one exists; the damaged one is missing, is of another version, or its schema
    /// cannot be read; or a disk failed or is full. Then there is no new file.
    pub fn salvage(damaged: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<Salvaged, Error> {
        Self::salvage_with(damaged, new, &Progress::default())
    }

    /// As [`salvage`](Self::salvage), and says how far it is.
    ///
    /// # Errors
    ///
    /// As [`salvage`](Self::salvage).
    #[doc(hidden)]
    pub fn salvage_with(
        damaged: impl AsRef<Path>,
        new: impl AsRef<Path>,
        progress: &Progress,
    ) -> Result<Salvaged, Error> {
        let (damaged, new) = (files::resolve(damaged.as_ref())?, files::resolve(new.as_ref())?);
        ensure_new(&new)?;
        if !damaged.exists() {
            let says = format!("{} does not exist: name the damaged database", damaged.display());
            return Err(Error::unusable(says));
        }
        files::check_local(&new)?;
        let lock = ReadLock::take(&damaged)?;
        let folder = Folder::beside(&new)?;
        let now = rounded(SystemTime::now());
        let sources = Sources::read(&damaged, &folder, lock.acknowledged(), now)?;
        let made = folder.path("inbox.db");
        let kept = Notes::beside(&damaged).map(|notes| kept_jobs(&notes)).unwrap_or_default();
        let salvaged = sources.write(&made, kept, now, progress)?;
        folder.move_out(&made, &new, &["", "-lock"])?;
        Ok(salvaged)
    }

    /// Makes an empty inbox into which a receiver goes on at once, in place of a damaged one. It blocks while it does so.
    ///
    /// Its workers are paused, and an intent that is not found has an unknown outcome: what comes may be done in the damaged
    /// inbox, and ordered there. [Salvage](Self::salvage) that meanwhile into a third file. Then
    /// [`Inbox::copy_from`](crate::Inbox::copy_from) copies what was salvaged, while the receiver runs, and ends both.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, SqliteStore, State};
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let folder = tempfile::tempdir()?;
    ///     let [damaged, new, salvaged] = ["damaged.db", "new.db", "salvaged.db"].map(|name| folder.path().join(name));
    ///     Inbox::open(&damaged).await?.close().await?;
    ///
    ///     SqliteStore::begin_salvage(&new)?;
    ///     assert!(SqliteStore::begin_salvage(&new).is_err(), "it exists");
    ///     let inbox = Inbox::open(&new).await?;
    ///     inbox.accept(fixture::complete().delivery()?).await;
    ///     assert!(inbox.health().await.paused_since?.is_some());
    ///
    ///     SqliteStore::salvage(&damaged, &salvaged)?;
    ///     inbox.copy_from(&Inbox::open(&salvaged).await?).await?;
    ///     assert_eq!(inbox.health().await.paused_since?, None);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be used as that of an inbox.
    pub fn begin_salvage(new: impl AsRef<Path>) -> Result<(), Error> {
        let new = files::resolve(new.as_ref())?;
        ensure_new(&new)?;
        let folder = Folder::beside(&new)?;
        let made = folder.path("inbox.db");
        let begun = NewDatabase::open(&made)?;
        begun.run(Begin)?;
        begun.close()?;
        folder.move_out(&made, &new, &["", "-lock"])
    }
}

/// Whether what was stored last can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Newest {
    Known,
    /// Any state may be older than the newest.
    MayBeLost,
}

/// What is read. What comes first is trusted more.
struct Sources {
    /// The database with all commits of the log that can be verified; behind a break, also with everything else in the log.
    copies: Vec<Source>,
    newest: Newest,
    /// Entries that were stored last may be in no copy.
    may_lack_names: bool,
    lost_changes: Option<u64>,
}

impl Sources {
    fn read(
        damaged: &Path,
        folder: &Folder,
        recorded: Option<Acknowledged>,
        now: SystemTime,
    ) -> Result<Self, Error> {
        let copy = folder.copy(damaged, "damaged")?;
        let usual = usize::try_from(PAGE_BYTES).unwrap_or_default();
        let mut log = None;
        if files::wal_bytes(damaged) > 0 {
            let copied = folder.copy(&with_suffix(damaged, "-wal"), "log")?;
            let page = page_size(&copy).unwrap_or(usual);
            log =
                Some(Log::read(&copied, page).map_err(|error| cannot_be_written(&copied, error))?);
        }
        let page = log.as_ref().map(Log::page).or_else(|| page_size(&copy));
        let page = page.unwrap_or(usual);
        let open = |copy: &Path| Source::open(copy, damaged, || first_page(folder, page), now);
        let replay = |log: &Log, commits, copy: &Path| {
            let database = File::options().write(true).open(copy);
            let replayed = database.and_then(|database| log.replay(commits, &database));
            replayed.map_err(|error| cannot_be_written(copy, error))
        };

        let everything = match &log {
            Some(log) if log.has_break() => Some(folder.copy(damaged, "everything")?),
            _ => None,
        };
        if let Some(log) = &log {
            replay(log, Commits::Sound, &copy)?;
        }
        let source = open(&copy);
        let counted = source.as_ref().ok().and_then(Source::counted);
        let lost_changes = match (recorded, counted) {
            (Some(recorded), Some(counted)) if recorded.database == counted.database => {
                Some(recorded.changes.saturating_sub(counted.changes).max(0).unsigned_abs())
            }
            (None, Some(_)) if everything.is_none() => {
                source.as_ref().is_ok_and(Source::was_stopped).then_some(0)
            }
            _ => None,
        };
        if lost_changes == Some(0) {
            let (copies, newest) = (vec![source?], Newest::Known);
            return Ok(Self { copies, newest, may_lack_names: false, lost_changes });
        }
        let (Some(log), Some(everything)) = (&log, everything) else {
            let (copies, newest) = (vec![source?], Newest::MayBeLost);
            return Ok(Self { copies, newest, may_lack_names: true, lost_changes });
        };
        drop(source);
        replay(log, Commits::BehindBreak, &copy)?;
        replay(log, Commits::Any, &everything)?;
        let mut copies = vec![open(&copy), open(&everything)];
        if copies.iter().any(Result::is_ok) {
            copies.retain(Result::is_ok);
        }
        let copies = copies.into_iter().collect::<Result<Vec<_>, _>>()?;
        // If the last commit is not whole, what it stored may have no name in any copy.
        let counted = copies.first().and_then(Source::counted);
        let is_last =
            |(counted, recorded): (Acknowledged, Acknowledged)| counted.changes >= recorded.changes;
        let may_lack_names = !counted.zip(recorded).is_some_and(is_last);
        Ok(Self { copies, newest: Newest::MayBeLost, may_lack_names, lost_changes })
    }

    /// Writes what can be trusted into a new database.
    fn write(
        &self,
        new: &Path,
        kept: Vec<Expect>,
        now: SystemTime,
        progress: &Progress,
    ) -> Result<Salvaged, Error> {
        let mut salvaged = Salvaged { lost_changes: self.lost_changes, ..Salvaged::default() };
        salvaged.ledger_has_gaps = self.newest == Newest::MayBeLost;
        salvaged.may_lack_names = self.may_lack_names;
        let rows =
            |source: &Source| source.intents.len() + source.entries.len() + source.jobs.len();
        let whole = self.copies.iter().map(rows).max().unwrap_or_default() as u64;
        let writer = NewDatabase::open(new)?;
        let mut writer = NewDatabase { progress: Some((progress, whole)), ..writer };
        for bucket in self.copies.iter().filter_map(Source::bucket) {
            writer.push(ExportLine::Bucket(bucket))?;
        }
        self.write_intents(&mut writer, &mut salvaged)?;
        let lost = self.write_entries(&mut writer, &mut salvaged)?;
        self.write_jobs(lost, now, &mut writer, &mut salvaged)?;
        writer.store()?;
        salvaged.ledger += kept.len() as u64;
        writer.run(Expecting(kept))?;
        for source in &self.copies {
            salvaged.may_lack_names |= source.may_lack_names;
            salvaged.ledger_has_gaps |=
                source.has_gaps || !matches!(source.once::<i64>(Mark::Gaps.name()), Ok(None));
            if let Ok(Some(_)) = source.once::<i64>(Mark::Paused.name()) {
                writer.run(Pause(None))?;
            }
        }
        if salvaged.ledger_has_gaps {
            writer.run(NoteGaps)?;
        }
        writer.close()?;
        Ok(salvaged)
    }

    fn write_intents(
        &self,
        writer: &mut NewDatabase<'_>,
        salvaged: &mut Salvaged,
    ) -> Result<(), Error> {
        let mut known = BTreeSet::new();
        for source in &self.copies {
            for (id, named) in &source.intents {
                let Some((intent, is_sound)) = source.intent(*id, named.as_deref()) else {
                    salvaged.ledger_has_gaps = true;
                    continue;
                };
                salvaged.ledger_has_gaps |= !is_sound;
                if known.insert(intent.name.clone()) {
                    salvaged.ledger += 1;
                    writer.push(ExportLine::Intent(intent))?;
                }
            }
        }
        Ok(())
    }

    /// Writes the entries. Returns the jobs of which something is lost, and whether that is a whole entry.
    fn write_entries(
        &self,
        writer: &mut NewDatabase<'_>,
        salvaged: &mut Salvaged,
    ) -> Result<BTreeMap<JobId, Lost>, Error> {
        let (mut kept, mut lost) = (HashSet::new(), HashMap::new());
        let mut jobs = BTreeMap::new();
        for source in &self.copies {
            for (id, named) in &source.entries {
                if named.as_ref().is_some_and(|key| kept.contains(key)) {
                    continue;
                }
                match source.entry(*id, named.as_ref(), self.newest) {
                    Found::Unnamed => salvaged.may_lack_names = true,
                    Found::Lost { key, doubtful } => _ = lost.entry(key).or_insert(doubtful),
                    Found::Kept { entry, lacks_body, is_doubtful } => {
                        let (job_id, event) = (entry.job_id.clone(), entry.event.clone());
                        if !kept.insert(EntryKey { job_id, event }) {
                            continue;
                        }
                        if lacks_body {
                            jobs.insert(entry.job_id.clone(), Lost::Body);
                        }
                        salvaged.entries += 1;
                        salvaged.doubtful += u64::from(is_doubtful);
                        writer.push(ExportLine::Entry(entry))?;
                    }
                }
            }
        }
        // What is lost in one copy may be kept in another.
        lost.retain(|key, _| !kept.contains(key));
        for (key, doubtful) in lost {
            jobs.insert(key.job_id, Lost::Entry);
            if let Some(entry) = doubtful {
                salvaged.entries += 1;
                salvaged.doubtful += 1;
                writer.push(ExportLine::Entry(entry))?;
            }
        }
        Ok(jobs)
    }

    fn write_jobs(
        &self,
        mut lost: BTreeMap<JobId, Lost>,
        now: SystemTime,
        writer: &mut NewDatabase<'_>,
        salvaged: &mut Salvaged,
    ) -> Result<(), Error> {
        salvaged.lost = lost.keys().cloned().collect();
        let mut known = BTreeSet::new();
        for source in &self.copies {
            for (id, named) in &source.jobs {
                let Some((mut job, is_sound)) = source.job(*id, named.as_ref()) else {
                    salvaged.ledger_has_gaps = true;
                    continue;
                };
                salvaged.ledger_has_gaps |= !is_sound;
                if !known.insert(job.job_id.clone()) {
                    continue;
                }
                if lost.remove(&job.job_id) == Some(Lost::Entry) {
                    (job.state, job.at) = (JobState::Expected, now);
                }
                salvaged.ledger += 1;
                writer.push(ExportLine::Job(job))?;
            }
        }
        for job_id in lost.into_keys() {
            let reason = Reason::Refused { code: LOST.into() };
            let expect = Expect { reason, ..Expect::job(job_id.clone(), now) };
            let job = JobLine::of(job_id, JobRow::new(&expect, None, now));
            writer.push(ExportLine::Job(job))?;
        }
        Ok(())
    }
}

/// What is lost of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lost {
    Entry,
    /// The entry has other bodies.
    Body,
}

/// The first page of an empty inbox with pages of this size. The tables begin in the same pages of each inbox that has made
/// its own file.
fn first_page(folder: &Folder, page: usize) -> Result<Vec<u8>, Error> {
    let path = folder.path("empty");
    let make = || -> Result<(), super::fault::Fault> {
        let connection = Connection::open(&path)?;
        let settings = format!("PRAGMA page_size = {page}; PRAGMA auto_vacuum = INCREMENTAL;");
        connection.execute_batch(&settings)?;
        schema::create(&connection)?;
        Ok(())
    };
    if !path.exists() {
        make()?;
    }
    let mut first = fs::read(&path).map_err(|error| cannot_be_written(&path, error))?;
    first.truncate(page);
    first[28..32].fill(0);
    Ok(first)
}

/// The new database, while rows are written to it.
struct NewDatabase<'a> {
    path: PathBuf,
    store: SqliteStore,
    lines: Vec<ExportLine>,
    bytes: usize,
    written: u64,
    /// Of how many lines.
    progress: Option<(&'a Progress, u64)>,
}

impl NewDatabase<'_> {
    fn open(path: &Path) -> Result<Self, Error> {
        let store = SqliteStore::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            store,
            lines: Vec::new(),
            bytes: 0,
            written: 0,
            progress: None,
        })
    }

    fn push(&mut self, line: ExportLine) -> Result<(), Error> {
        self.bytes += line.bytes();
        self.lines.push(line);
        if self.lines.len() >= LINES_PER_TRANSACTION || self.bytes >= BYTES_PER_TRANSACTION {
            self.store()?;
        }
        Ok(())
    }

    fn store(&mut self) -> Result<(), Error> {
        self.bytes = 0;
        let lines = std::mem::take(&mut self.lines);
        self.written += lines.len() as u64;
        if let Some((progress, whole)) = self.progress {
            progress.set(self.written, whole);
        }
        self.run(Import(lines)).map(drop)
    }

    fn run<S: Script>(&self, script: S) -> Result<S::Output, Error> {
        pollster::block_on(self.store.write(script))
    }

    fn close(self) -> Result<(), Error> {
        drop(self.store);
        if files::wal_bytes(&self.path) > 0 {
            let what = io::Error::other("its log could not be emptied");
            return Err(cannot_be_written(&self.path, what));
        }
        Ok(())
    }
}
