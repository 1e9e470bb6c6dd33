//! Whether a damage did harm that it must not do.
//!
//! No handler gets a wrong body. What is lost is reported. A damaged row takes no other along. A start works, or is refused with
//! an error that names the file.

use std::collections::{BTreeMap, BTreeSet};

use article_webhook_inbox::{Digest, State};
use rusqlite::{Connection, types::Value};

use super::{
    base::{self, Base, Files},
    story::NEW,
    trial::{Observed, Shown},
};

/// What became of one damaged spot.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) outcome: &'static str,
    /// What must never happen.
    pub(super) wrong: Vec<String>,
}

/// An entry as it ended, and how often a handler was called for it.
type End = (String, usize);

pub(super) fn of((base, whole): (&Base, &Observed), files: &Files, observed: &Observed) -> Verdict {
    let mut wrong = Vec::new();
    if observed.panics > 0 {
        wrong.push("a thread panics".into());
    }
    let unnamed = observed.refused.iter().filter(|error| !error.contains("inbox.db"));
    wrong.extend(unnamed.map(|error| format!("refused without the file's name: {error}")));
    wrong.extend(observed.failed.iter().map(|failed| format!("a call fails: {failed}")));
    wrong.extend(wrong_bodies(base, observed));

    let corrupt = |entries: &[Shown]| {
        entries.iter().filter(|(entry, _)| entry.state == State::Corrupt).count()
    };
    let is_reported = observed.reported.iter().any(|reported| !whole.reported.contains(reported))
        || corrupt(&observed.before) > corrupt(&whole.before)
        || corrupt(&observed.after) > corrupt(&whole.after);
    if !observed.met.is_empty() && !is_reported {
        wrong.push(format!("not reported: {:?}", observed.met));
    }
    if !observed.refused.is_empty() {
        return Verdict { outcome: "refused", wrong };
    }

    let changed = changed(&whole.before, &observed.before);
    let (expected, found) = (ends(whole), ends(observed));
    let is_repeated = |key: &str| observed.again.iter().any(|job| key.starts_with(job.as_str()));
    let mut deviating: BTreeSet<_> = changed;
    for (key, (end, calls)) in &expected {
        let is_same = found.get(key).is_some_and(|(found, seen)| {
            // A corrupt entry that is delivered again is worked on once more.
            found == end && (seen == calls || is_repeated(key))
        });
        if !is_same {
            deviating.insert(key.clone());
        }
    }
    if observed.ledger != whole.ledger && !is_reported {
        wrong.push(format!("silent: the ledger is {:?}", observed.ledger));
    }
    if deviating.is_empty() {
        let outcome = if is_reported { "reported" } else { "without effect" };
        return Verdict { outcome, wrong };
    }
    if !is_reported {
        wrong.push(format!("silent: {deviating:?}"));
    }
    let Some(hit) = damaged_rows(base, files) else {
        return Verdict { outcome: "pages, reported", wrong };
    };
    if hit.is_empty() {
        return Verdict { outcome: "indexes, reported", wrong };
    }
    for (entry, _) in &observed.after {
        let key = entry.key.to_string();
        if entry.state == State::Corrupt && is_repeated(&key) && expected.contains_key(&key) {
            wrong.push(format!("not repaired by its next delivery: {key}, {:?}", entry.cause));
        }
    }
    let neighbours: Vec<_> = deviating.iter().filter(|key| !hit.contains(*key)).collect();
    if let Some(first) = neighbours.first() {
        let (expected, found) = (expected.get(*first), found.get(*first));
        wrong.push(format!(
            "neighbours suffer: {neighbours:?}, the first: expected {expected:?}, found {found:?}"
        ));
    }
    Verdict { outcome: "one row, reported", wrong }
}

/// Bodies that were never sent for the job that a handler was called for.
fn wrong_bodies(base: &Base, observed: &Observed) -> Vec<String> {
    let mut wrong = Vec::new();
    for (job, article, digest) in &observed.calls {
        if job != article {
            wrong.push(format!("a handler for {job} got the article of {article}"));
        }
        let was_sent = base
            .sent
            .get(article)
            .is_some_and(|sent| sent.iter().any(|sent| Digest::of(sent) == *digest));
        if !was_sent && article != NEW {
            wrong.push(format!("a handler for {job} got a body that was never sent"));
        }
    }
    wrong
}

/// The keys of the entries that were shown otherwise after the start.
fn changed(expected: &[Shown], found: &[Shown]) -> BTreeSet<String> {
    let by_key = |entries: &[Shown]| {
        let entries = entries.iter().map(|shown| (shown.0.key.to_string(), format!("{shown:?}")));
        entries.collect::<BTreeMap<_, _>>()
    };
    let (expected, found) = (by_key(expected), by_key(found));
    expected
        .iter()
        .filter(|(key, shown)| found.get(*key) != Some(shown))
        .map(|(key, _)| key.clone())
        .collect()
}

fn ends(observed: &Observed) -> BTreeMap<String, End> {
    let ends = observed.after.iter().map(|shown| {
        let (entry, bodies) = shown;
        let job = entry.key.job_id.to_string();
        let calls = observed.calls.iter().filter(|(called, ..)| *called == job).count();
        // Ids differ where entries were lost before.
        let ended = format!(
            "{:?}",
            (
                {
                    let mut entry = entry.clone();
                    entry.id = 0;
                    entry
                },
                bodies
            )
        );
        (entry.key.to_string(), (ended, calls))
    });
    ends.collect()
}

/// The entries whose own rows are damaged, as SQLite reads the tables without any index. `None` if pages are damaged.
fn damaged_rows(base: &Base, files: &Files) -> Option<BTreeSet<String>> {
    if !has_sound_pages(files)? {
        return None;
    }
    let (sound, damaged) = (rows(&base.files)?, rows(files)?);
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
fn rows(files: &Files) -> Option<Rows> {
    let folder = base::folder();
    let connection = Connection::open(files.write(folder.path())).ok()?;
    let mut entries = BTreeMap::new();
    let select = |table: &str| -> rusqlite::Result<Vec<Vec<Value>>> {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table} NOT INDEXED"))?;
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
    for row in select("article_inbox_entries").ok()? {
        let (Value::Integer(id), Value::Text(job), Value::Text(event)) =
            (&row[0], &row[1], &row[2])
        else {
            return None;
        };
        entries.insert(*id, (format!("{job} ({event})"), vec![row]));
    }
    for row in select("article_inbox_bodies").ok()? {
        let Value::Integer(slot) = row[0] else { return None };
        if let Some((_, rows)) = entries.get_mut(&slot.div_euclid(16)) {
            rows.push(row);
        }
    }
    Some(entries)
}
