//! Whether a start did harm that it must not do.
//!
//! No handler gets a wrong body. What is lost is reported. A damaged row takes no other along. A start works, or is refused with
//! an error that names the file.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, types::Value};

use super::{
    base::{self, Base, Files},
    started::{NEW, Observed, Shown},
};

/// The columns of an entry that its checksum or an index covers. The others change with each attempt: counts, and times that are shown.
const CHECKED: &str = "id, job_id, event, received_at, state, at, held, target, document, checksum";

/// What became of one start.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) outcome: &'static str,
    /// What must never happen.
    pub(super) wrong: Vec<String>,
}

pub(super) fn of((base, whole): (&Base, &Observed), files: &Files, observed: &Observed) -> Verdict {
    let mut wrong = observed.wrong.clone();
    let unnamed = observed.refused.iter().filter(|error| !error.contains("inbox.db"));
    wrong.extend(unnamed.map(|error| format!("refused without the file's name: {error}")));
    let is_sent =
        |job: &str, body| job == NEW || base.sent.get(job).is_some_and(|sent| sent.contains(body));
    let unsent = observed.calls.iter().filter(|(job, body)| !is_sent(job, body));
    wrong.extend(
        unsent.map(|(job, _)| format!("a handler for {job} got a body that was never sent")),
    );

    let is_reported = observed.reported.difference(&whole.reported).next().is_some();
    if !observed.met.is_empty() && !is_reported {
        wrong.push(format!("not reported: {:?}", observed.met));
    }
    if !observed.refused.is_empty() {
        return Verdict { outcome: "refused", wrong };
    }
    if observed.ledger != whole.ledger && !is_reported {
        wrong.push(format!("silent: the ledger is {:?}", observed.ledger));
    }
    let deviating = deviating(whole, observed);
    if deviating.is_empty() {
        let outcome = if is_reported { "reported" } else { "without effect" };
        return Verdict { outcome, wrong };
    }
    let hit = damaged_rows(base, files, "*");
    if !is_reported {
        let is_checked = damaged_rows(base, files, CHECKED) != Some(BTreeSet::new());
        if is_checked || hit.is_none_or(|hit| hit.is_empty()) {
            wrong.push(format!("silent: {deviating:?}"));
        }
        return Verdict { outcome: "a count or a time of one row", wrong };
    }
    let Some(hit) = hit else {
        return Verdict { outcome: "pages, reported", wrong };
    };
    if hit.is_empty() {
        return Verdict { outcome: "indexes, reported", wrong };
    }
    for (key, entry) in &observed.after {
        let was_sound = whole.after.get(key).is_some_and(|entry| !entry.contains("Corrupt"));
        if was_sound && entry.contains("state: Corrupt") && is_repeated(observed, key) {
            wrong.push(format!("not repaired by its next delivery: {entry}"));
        }
    }
    let mut neighbours = deviating.difference(&hit).peekable();
    if let Some(first) = neighbours.peek().copied() {
        let (expected, found) = (whole.after.get(first), observed.after.get(first));
        wrong.push(format!(
            "neighbours suffer: {:?}, the first: expected {expected:?}, found {found:?}",
            neighbours.collect::<Vec<_>>()
        ));
    }
    Verdict { outcome: "one row, reported", wrong }
}

/// The entries that are not what they are without damage, after the start or at the end, or that were handled more or less often.
fn deviating(whole: &Observed, observed: &Observed) -> BTreeSet<String> {
    let differs = |expected: &Shown, found: &Shown| -> BTreeSet<String> {
        let differ = expected.iter().filter(|(key, entry)| found.get(*key) != Some(entry));
        differ.map(|(key, _)| key.clone()).collect()
    };
    let calls = |observed: &Observed, key: &str| {
        let is_of = |(job, _): &&(String, _)| is_of(key, job);
        observed.calls.iter().filter(is_of).count()
    };
    let mut deviating = differs(&whole.before, &observed.before);
    deviating.append(&mut differs(&whole.after, &observed.after));
    // A corrupt entry that is delivered again is worked on once more.
    let keys = whole.after.keys().filter(|key| !is_repeated(observed, key));
    deviating.extend(keys.filter(|key| calls(whole, key) != calls(observed, key)).cloned());
    deviating
}

fn is_repeated(observed: &Observed, key: &str) -> bool {
    observed.again.iter().any(|job| is_of(key, job))
}

/// Whether an entry is of this job.
fn is_of(key: &str, job: &str) -> bool {
    key.strip_prefix(job).is_some_and(|rest| rest.starts_with(' '))
}

/// The entries whose own rows are damaged in these columns, as SQLite reads the tables without any index. `None` if pages are damaged.
fn damaged_rows(base: &Base, files: &Files, columns: &str) -> Option<BTreeSet<String>> {
    if !has_sound_pages(files)? {
        return None;
    }
    let (sound, damaged) = (rows(&base.files, columns)?, rows(files, columns)?);
    let differs = |(id, row): &(&i64, &(String, Vec<Vec<Value>>))| damaged.get(id) != Some(row);
    Some(sound.iter().filter(differs).map(|(_, (key, _))| key.clone()).collect())
}

/// Whether SQLite's check finds nothing but values, and indexes that differ from their tables. `None` if it cannot check.
fn has_sound_pages(files: &Files) -> Option<bool> {
    let folder = base::folder();
    let connection = Connection::open(files.write(folder.path())).ok()?;
    let mut check = connection.prepare("PRAGMA integrity_check(1000)").ok()?;
    let lines = check.query_map([], |row| row.get::<_, String>(0)).ok()?;
    let lines = lines.collect::<Result<Vec<_>, _>>().ok()?;
    let is_page = |line: &str| {
        ["Tree ", "Freelist", "Page ", "max rootpage", "row not in"]
            .iter()
            .any(|words| line.contains(words))
            && !line.contains("never used")
    };
    Some(!lines.iter().flat_map(|line| line.lines()).any(is_page))
}

/// By the id of an entry: its key, and its row and those of its bodies.
type Rows = BTreeMap<i64, (String, Vec<Vec<Value>>)>;

/// The rows as SQLite reads the tables without any index.
fn rows(files: &Files, columns: &str) -> Option<Rows> {
    let folder = base::folder();
    let connection = Connection::open(files.write(folder.path())).ok()?;
    let mut entries = BTreeMap::new();
    let select = |columns, table| -> rusqlite::Result<Vec<Vec<Value>>> {
        let select = format!("SELECT {columns} FROM {table} NOT INDEXED");
        let mut statement = connection.prepare(&select)?;
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            // A text that is not UTF-8 is read as its bytes.
            let value = |column| {
                row.get(column).or_else(|_| Ok(Value::Text(format!("{:?}", row.get_ref(column)?))))
            };
            (0..columns).map(value).collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.collect()
    };
    for row in select(columns, "article_inbox_entries").ok()? {
        let (Value::Integer(id), Value::Text(job), Value::Text(event)) =
            (&row[0], &row[1], &row[2])
        else {
            return None;
        };
        entries.insert(*id, (format!("{job} ({event})"), vec![row]));
    }
    for row in select("*", "article_inbox_bodies").ok()? {
        let Value::Integer(slot) = row[0] else { return None };
        if let Some((_, rows)) = entries.get_mut(&slot.div_euclid(16)) {
            rows.push(row);
        }
    }
    Some(entries)
}
