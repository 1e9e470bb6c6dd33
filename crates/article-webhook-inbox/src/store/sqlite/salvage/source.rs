//! What can be read of a copy of the damaged database. Rows are read one by one, so that a page that cannot be read costs
//! its rows alone. What a table cannot say of a row, its indexes may.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::{Event, JobId};
use rusqlite::{Connection, Row as SqlRow};

use super::Newest;
use crate::{
    EntryKey, Error, JobState, State, codec,
    rules::{BodyLine, Bucket, EntryLine, IntentLine, IntentRow, JobLine, JobRow, Row},
    script::Intents,
    store::sqlite::{
        connection::{self, restore_advice},
        damage::Findings,
        files::{
            Acknowledged,
            positioned::{read_at, write_at},
        },
        schema,
        tables::{self, entry_of_slot},
        wal_identity,
    },
    timestamp::from_millis,
};

/// A copy of the damaged database, without a log.
pub(super) struct Source {
    connection: Connection,
    now: SystemTime,
    /// The entries, and their keys by the index.
    pub(super) entries: BTreeMap<i64, Option<EntryKey>>,
    pub(super) jobs: BTreeMap<i64, Option<JobId>>,
    pub(super) intents: BTreeMap<i64, Option<Box<str>>>,
    /// The states of the entries and their times, and the states of the jobs, by other indexes.
    entry_states: HashMap<i64, (State, SystemTime)>,
    job_states: HashMap<i64, JobState>,
    /// All entries can be read from their table.
    is_table_of_entries_whole: bool,
    /// The names of entries that cannot be read may be missing.
    pub(super) may_lack_names: bool,
    /// Something of the ledger cannot be read.
    pub(super) has_gaps: bool,
}

/// What became of an entry.
pub(super) enum Found {
    /// The entry is there, with these bodies.
    Kept {
        entry: EntryLine,
        /// One of its bodies is lost.
        lacks_body: bool,
        /// Whether it was done is not known.
        is_doubtful: bool,
    },
    /// No body of it can be read, and no copy shows that it was done.
    Lost {
        key: EntryKey,
        /// The entry for a person to look at, if it may have been done.
        doubtful: Option<EntryLine>,
    },
    /// The name of the entry cannot be read.
    Unnamed,
}

impl Source {
    /// Opens a copy, and reads which rows it has. `first_page` is that of an empty inbox with these pages.
    pub(super) fn open(
        copy: &Path,
        damaged_path: &Path,
        first_page: impl FnOnce() -> Result<Vec<u8>, Error>,
        now: SystemTime,
    ) -> Result<Self, Error> {
        let failed = |error: &rusqlite::Error| connection::refused(damaged_path, error);
        let bytes = copy.metadata().map_or(0, |copy| copy.len());
        let open = || {
            let _ = fill_up(copy);
            let connection = connection::open_without_log(copy)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        };
        let mut connection = open().map_err(|error| failed(&error))?;
        if !is_readable(&connection) {
            drop(connection);
            let first_page = first_page()?;
            let file = File::options().write(true).open(copy);
            file.and_then(|file| write_at(&file, 0, &first_page))
                .map_err(|_| unreadable(damaged_path))?;
            connection = open().map_err(|error| failed(&error))?;
            if !is_readable(&connection) || !matches!(schema::exists(&connection), Ok(true)) {
                return Err(unreadable(damaged_path));
            }
        }
        schema::check_unless_damaged(&connection, damaged_path)?;
        let mut source = Self {
            connection,
            now,
            entries: BTreeMap::new(),
            jobs: BTreeMap::new(),
            intents: BTreeMap::new(),
            entry_states: HashMap::new(),
            job_states: HashMap::new(),
            is_table_of_entries_whole: true,
            may_lack_names: false,
            has_gaps: false,
        };
        source.read_ids(bytes / 8);
        Ok(source)
    }

    fn read_ids(&mut self, limit: u64) {
        let all = (&self.connection, limit);
        let id = |row: &SqlRow<'_>| row.get::<_, i64>(0).ok();
        let text = |row: &SqlRow<'_>, column| row.get::<_, String>(column).ok();
        let job_id = |row: &SqlRow<'_>| text(row, 1)?.parse::<JobId>().ok();

        let (ids, is_whole) = scan(all, "id FROM article_inbox_entries NOT INDEXED", &["id"], id);
        let (names, has_names) = scan(
            all,
            "id, job_id, event FROM article_inbox_entries INDEXED BY sqlite_autoindex_article_inbox_entries_1",
            &["job_id", "event"],
            |row| {
                let event = Event::from(text(row, 2)?.as_str());
                Some((id(row)?, Some(EntryKey { job_id: job_id(row)?, event })))
            },
        );
        let (states, _) = scan(
            all,
            "id, state, at FROM article_inbox_entries INDEXED BY article_inbox_entries_by_time",
            &["state"],
            |row| {
                let state = State::from_name(&text(row, 1)?)?;
                Some((id(row)?, (state, from_millis(row.get(2).ok()?))))
            },
        );
        let (slots, _) =
            scan(all, "slot FROM article_inbox_bodies NOT INDEXED", &["slot"], |row| id(row));
        self.is_table_of_entries_whole =
            is_whole && names.iter().all(|(id, _)| ids.binary_search(id).is_ok());
        self.may_lack_names = !self.is_table_of_entries_whole && !has_names;
        let others = slots.into_iter().map(entry_of_slot).chain(states.iter().map(|(id, _)| *id));
        self.entries = others.chain(ids).map(|id| (id, None)).chain(names).collect();
        self.entry_states = states.into_iter().collect();

        let (ids, jobs) = scan(all, "id FROM article_inbox_jobs NOT INDEXED", &["id"], id);
        let (names, jobs_by_name) = scan(
            all,
            "id, job_id FROM article_inbox_jobs INDEXED BY sqlite_autoindex_article_inbox_jobs_1",
            &["job_id"],
            |row| Some((id(row)?, Some(job_id(row)?))),
        );
        let (states, jobs_by_state) = scan(
            all,
            "id, state FROM article_inbox_jobs INDEXED BY article_inbox_jobs_by_state",
            &["state"],
            |row| Some((id(row)?, JobState::from_name(&text(row, 1)?)?)),
        );
        self.jobs = ids.into_iter().map(|id| (id, None)).chain(names).collect();
        self.job_states = states.into_iter().collect();

        let (ids, intents) = scan(all, "id FROM article_inbox_intents NOT INDEXED", &["id"], id);
        let (names, intents_by_name) = scan(
            all,
            "id, name FROM article_inbox_intents INDEXED BY sqlite_autoindex_article_inbox_intents_1",
            &["name"],
            |row| Some((id(row)?, Some(text(row, 1)?.into()))),
        );
        self.intents = ids.into_iter().map(|id| (id, None)).chain(names).collect();
        self.has_gaps =
            [jobs, jobs_by_name, jobs_by_state, intents, intents_by_name].contains(&false);
    }

    /// How far this copy has come, by what can be read of it. `None` if its id cannot be read.
    pub(super) fn counted(&self) -> Option<Acknowledged> {
        let database = self.once("database").ok()??;
        let removed: i64 = self.once("last_removed_id").ok()?.unwrap_or_default();
        let others: i64 = self.once("other_changes").ok()?.unwrap_or_default();
        let last = [
            self.entries.keys().next_back(),
            self.jobs.keys().next_back(),
            self.intents.keys().next_back(),
        ];
        let rows = last.into_iter().flatten().copied().fold(removed, i64::max);
        Some(Acknowledged { database, changes: rows.saturating_add(others) })
    }

    /// Whether the last stop was an orderly one.
    pub(super) fn was_stopped(&self) -> bool {
        wal_identity::was_stopped(&self.connection).unwrap_or(false)
    }

    /// A value of the table of what there is once. The error says that it cannot be read.
    pub(super) fn once<T: rusqlite::types::FromSql>(&self, name: &str) -> Result<Option<T>, ()> {
        use rusqlite::OptionalExtension;

        let value = "SELECT value FROM article_inbox_meta WHERE name = ?1";
        self.connection.query_row(value, [name], |row| row.get(0)).optional().map_err(drop)
    }

    /// The bucket of polls, which is empty if it cannot be read. `None` if none is stored.
    pub(super) fn bucket(&self) -> Option<Bucket> {
        match self.once::<String>("bucket") {
            Ok(stored) => Some(codec::row(&stored?).unwrap_or_else(Bucket::empty)),
            Err(()) => Some(Bucket::empty()),
        }
    }

    /// What became of an entry.
    pub(super) fn entry(&self, id: i64, named: Option<&EntryKey>, newest: Newest) -> Found {
        let read = tables::entry_at(&self.connection, id).ok().flatten();
        let of_index = self.entry_states.get(&id);
        let is_sound = read.as_ref().is_some_and(|read| read.damage.is_none());
        let bodies = tables::bodies_one_by_one(&self.connection, id);
        let all = bodies.len();
        let bodies: Vec<_> = bodies.into_iter().flatten().collect();
        let by_index = if is_sound { None } else { named.cloned() };
        let key = by_index.or_else(|| read.as_ref()?.key.clone());
        let Some(key) = key.or_else(|| bodies.iter().find_map(key_in)) else {
            return Found::Unnamed;
        };
        let with_bytes = bodies.iter().filter(|body| body.body.is_some()).count();

        let state = of_index.map(|(state, _)| *state).filter(|_| !is_sound);
        let state = state.or(read.as_ref().map(|read| read.row.state));
        let is_done = state == Some(State::Done);
        let (mut row, received_at, lacks_body) = match read.filter(|_| is_sound) {
            Some(read) => (read.row, read.received_at, with_bytes < read.held),
            None => {
                let at = of_index.map_or(self.now, |(_, at)| *at);
                let received_at = bodies.iter().map(|body| body.received_at).min().unwrap_or(at);
                (Row::new(at), received_at, with_bytes < all || with_bytes == 0)
            }
        };
        if is_done {
            row.state = State::Done;
        } else if lacks_body && with_bytes == 0 {
            let may_be_done = newest == Newest::MayBeLost || state.is_none();
            let doubtful = (may_be_done && !key.is_quarantine()).then(|| {
                row.doubt(self.now);
                // Without a digest of what is lost, the article is stored when it comes again.
                EntryLine::of(key.clone(), received_at, row, Vec::new())
            });
            return Found::Lost { key, doubtful };
        }
        if key.is_quarantine() {
            row.state = State::Quarantined;
        }
        let is_confirmed = self.is_table_of_entries_whole || of_index == Some(&(row.state, row.at));
        let may_be_old = newest == Newest::MayBeLost || !is_sound || !is_confirmed;
        let is_doubtful = may_be_old && row.doubt(self.now);
        let entry = EntryLine::of(key, received_at, row, bodies);
        Found::Kept { entry, lacks_body: lacks_body && !is_done, is_doubtful }
    }

    /// A job of the ledger, and whether its row can be trusted. `None` if its name cannot be read.
    pub(super) fn job(&self, id: i64, named: Option<&JobId>) -> Option<(JobLine, bool)> {
        let read = tables::job_at(&self.connection, id).ok().flatten();
        if let Some((job_id, row, true)) = read {
            return Some((JobLine::of(job_id, row), true));
        }
        let (job_id, state) = match (named, read) {
            (Some(job_id), read) => (job_id.clone(), read.map(|(_, row, _)| row.state)),
            (None, Some((job_id, row, _))) => (job_id, Some(row.state)),
            (None, None) => return None,
        };
        let state = self.job_states.get(&id).copied().or(state).unwrap_or_default();
        let row = JobRow { state, expected_at: self.now, at: self.now, ..JobRow::unread() };
        Some((JobLine::of(job_id, row), false))
    }

    /// An intent, and whether its row can be trusted. `None` if its name cannot be read.
    pub(super) fn intent(&self, id: i64, named: Option<&str>) -> Option<(IntentLine, bool)> {
        let findings = Findings::silent();
        let read = tables::intents(&self.connection, &Intents::Of(id), self.now, &findings);
        let read = read.ok().and_then(|mut read| read.pop());
        let line = read.and_then(|read| IntentLine::new(&read.name, read.row.get()?));
        match line {
            Some(line) if findings.all().is_empty() => Some((line, true)),
            // Whether it was ordered is not known, unless its job is.
            line => {
                let name = named.map(Into::into).or_else(|| Some(line?.name))?;
                let row = IntentRow::new(Duration::ZERO, self.now);
                Some((IntentLine::new(&name, &row)?, false))
            }
        }
    }
}

/// The key that a body says itself.
fn key_in(body: &BodyLine) -> Option<EntryKey> {
    #[derive(serde::Deserialize)]
    struct Named {
        job_id: String,
        event: Option<String>,
    }

    let Named { job_id, event } = serde_json::from_slice(body.body.as_ref()?).ok()?;
    let event = event.map_or(Event::ArticleComplete, |event| Event::from(event.as_str()));
    Some(EntryKey { job_id: job_id.parse().ok()?, event })
}

/// The rows of a selection, read from both ends, as far as damage lets that. `false` if something is missing. More rows than
/// the limit come from pages that lead to each other.
fn scan<T>(
    (connection, limit): (&Connection, u64),
    select: &str,
    keys: &[&str],
    read: impl Fn(&SqlRow<'_>) -> Option<T>,
) -> (Vec<T>, bool) {
    let (mut found, mut is_whole) = (Vec::new(), true);
    for direction in ["ASC", "DESC"] {
        let keys: Vec<_> = keys.iter().map(|key| format!("{key} {direction}")).collect();
        let select = format!("SELECT {select} ORDER BY {}", keys.join(", "));
        let mut one_way = || -> rusqlite::Result<bool> {
            let mut statement = connection.prepare(&select)?;
            let (mut rows, mut count) = (statement.query([])?, 0);
            while let Some(row) = rows.next()? {
                count += 1;
                match read(row) {
                    Some(read) => found.push(read),
                    None => is_whole = false,
                }
                if count > limit {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        if matches!(one_way(), Ok(true)) {
            break;
        }
        is_whole = false;
    }
    (found, is_whole)
}

/// Whether the statements of the inbox can be prepared: the schema can be read.
fn is_readable(connection: &Connection) -> bool {
    let tables = ["meta", "entries", "bodies", "jobs", "intents"];
    tables
        .iter()
        .all(|table| connection.prepare(&format!("SELECT * FROM article_inbox_{table}")).is_ok())
}

/// The error for a file of which nothing can be read.
fn unreadable(path: &Path) -> Error {
    Error::damaged(format!(
        "nothing of an inbox can be read in {}: name another file, or {}",
        path.display(),
        restore_advice(path)
    ))
}

/// The tables of the inbox begin before this page, if it has made its own file.
const FIRST_PAGES: u64 = 64;

/// Makes a file as long as its header says: SQLite reads no schema whose tables would begin behind the end. Then SQLite takes
/// the length of the file for the number of pages.
fn fill_up(database: &Path) -> std::io::Result<()> {
    let file = File::options().read(true).write(true).open(database)?;
    let length = file.metadata()?.len();
    let mut header = [0; 32];
    read_at(&file, 0, &mut header)?;
    let page = page_size(database).map_or(0, |page| page as u64);
    let pages = u64::from(u32::from_be_bytes([header[28], header[29], header[30], header[31]]));
    let at_least = length.max(FIRST_PAGES * page);
    // A damaged number may be more than a file can have.
    file.set_len(at_least.max(pages * page)).or_else(|_| file.set_len(at_least))?;
    write_at(&file, 28, &[0; 4])
}

/// The size of the pages of a database, if its header says it.
pub(super) fn page_size(database: &Path) -> Option<usize> {
    let mut header = [0; 18];
    File::open(database).and_then(|file| read_at(&file, 0, &mut header)).ok()?;
    let size = match usize::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 1 << 16,
        size => size,
    };
    (header.starts_with(b"SQLite format 3\0") && size.is_power_of_two() && size >= 512)
        .then_some(size)
}
