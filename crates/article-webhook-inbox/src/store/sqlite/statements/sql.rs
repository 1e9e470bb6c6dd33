//! Every statement. They are in one place so that a test sees the plan of each.

pub(super) mod ledger;

/// The columns of a stored entry, in the order in which [`rows::stored`](super::rows::stored) reads them. The last is the
/// checksum of the others.
macro_rules! entry {
    () => {
        "id, job_id, event, received_at, state, attempts, fence, at, since, interrupted, conflicts, cause, failures, \
         checksum"
    };
}

/// The columns of a stored body, in the order in which [`rows::stored_body`](super::rows::stored_body) reads them. The last
/// is the checksum of the others. The bytes follow.
macro_rules! body {
    () => {
        "slot, received_at, source, target, intent, digest, checksum"
    };
}

/// The columns of [`entry!`], and the target of the first body.
macro_rules! shown {
    () => {
        concat!(entry!(), ", (SELECT target FROM article_inbox_bodies WHERE slot = id * 16)")
    };
}

/// Finds entries of a state by the index by time, in its words: 1 for a failure that waits or is leased, 0 for all others.
/// So a claim visits no entry whose event it does not take.
macro_rules! by_time {
    ($select:literal, $rest:literal) => {
        concat!(
            $select,
            " FROM article_inbox_entries WHERE state = ?1 \
             AND (event = 'generation failed' AND (state = 'waiting' OR state = 'leased')) = ",
            $rest
        )
    };
}

// After the macros that it uses.
mod list;

pub(super) use self::list::{
    COUNT_FEW, EXCERPT, LIST, LIST_JOB, LIST_LIVE, LIST_OTHER, LIST_STUCK, NEWEST, NEWEST_JOB,
    NEWEST_OF_FEW, NEWEST_OTHER, NEWEST_STUCK,
};

// Entries. What a transition changes is decided by the rules: a row is loaded, changed and saved.
// A row is always read from its table: an index with damage may lead to another row, and SQLite takes the columns that
// are in an index from there.
pub(super) const LOAD: &str =
    concat!("SELECT ", entry!(), " FROM article_inbox_entries WHERE id = ?1");
/// The parameters are the columns of [`entry!`].
pub(super) const SAVE: &str = "UPDATE article_inbox_entries SET state = ?5, attempts = ?6, fence = ?7, at = ?8, \
    since = ?9, interrupted = ?10, conflicts = ?11, cause = ?12, failures = ?13, checksum = ?14 WHERE id = ?1";
/// Writes a whole row, so that every value has the type of its column again.
pub(super) const ISOLATE: &str = "UPDATE article_inbox_entries SET job_id = ?2, event = ?3, received_at = ?4, \
    state = ?5, attempts = ?6, fence = ?7, at = ?8, since = ?9, interrupted = ?10, conflicts = ?11, cause = ?12, \
    failures = ?13, checksum = ?14, held = (SELECT count(*) FROM article_inbox_bodies \
    WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 AND body IS NOT NULL) WHERE id = ?1";
pub(super) const FIND_ID: &str =
    "SELECT id FROM article_inbox_entries WHERE job_id = ?1 AND event = ?2";
/// The id that `AUTOINCREMENT` would give to the next entry. The checksum of an entry contains its id.
pub(super) const NEXT_ID: &str = "SELECT max(ifnull((SELECT max(id) FROM article_inbox_entries), 0), \
    ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'article_inbox_entries'), 0)) + 1";
/// The parameters are the columns of [`entry!`], and the number of bodies that have bytes.
pub(super) const ADD: &str = concat!(
    "INSERT INTO article_inbox_entries (",
    entry!(),
    ", held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
);
/// Counts the bodies that have bytes. Retention finds entries by this number.
pub(super) const COUNT_HELD: &str = "UPDATE article_inbox_entries SET held = (SELECT count(*) \
    FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 AND body IS NOT NULL) WHERE id = ?1";

// Bodies. The slot of a body is the id of its entry times 16, plus its number in the entry.
pub(super) const KNOWN_BODIES: &str = "SELECT slot, digest, intent, source FROM article_inbox_bodies \
    WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot";
pub(super) const BODIES: &str = concat!(
    "SELECT ",
    body!(),
    ", body FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot"
);
pub(super) const PUT_BODY: &str = "INSERT OR REPLACE INTO article_inbox_bodies \
    (slot, received_at, source, target, intent, digest, checksum, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
pub(super) const BODY_WITHOUT_BYTES: &str =
    concat!("SELECT ", body!(), " FROM article_inbox_bodies WHERE slot = ?1");
pub(super) const PUT_INTENT: &str =
    "UPDATE article_inbox_bodies SET intent = ?2, checksum = ?3 WHERE slot = ?1";
pub(super) const COUNT_BODIES: &str =
    "SELECT count(*) FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15";
pub(super) const BODIES_AFTER: &str = concat!(
    "SELECT ",
    body!(),
    ", body FROM article_inbox_bodies WHERE slot > ?1 ORDER BY slot LIMIT ?2"
);
pub(super) const REMOVE_BODY: &str = "DELETE FROM article_inbox_bodies WHERE slot = ?1";
pub(super) const HAS_HELD: &str =
    "SELECT TRUE FROM article_inbox_entries WHERE id = ?1 AND held > 0";
pub(super) const HELD: &str = "SELECT count(*) FROM article_inbox_bodies \
    WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 AND body IS NOT NULL";

// Claims.
/// Selects entries that [`Row::is_due`](crate::rules::Row::is_due) accepts: it must agree with it for the states `waiting`
/// and `leased`.
pub(super) const DUE: &str = by_time!("SELECT id", "?2 AND at <= ?3 ORDER BY at, id");
pub(super) const NEXT: &str = by_time!("SELECT id, at", "?2 ORDER BY at, id LIMIT ?3");
/// Runs in a transaction of the application, and therefore decides by itself. It must agree with
/// [`Row::settle`](crate::rules::Row::settle) for `Outcome::Done`, but cannot compute a checksum; the contract's cases of `completion` hold it to that.
pub(super) const COMPLETE: &str = "UPDATE article_inbox_entries SET state='done', at=?3, since=?3, \
    interrupted=0, cause=NULL, checksum=NULL WHERE id=?1 AND fence=?2 AND state='leased' AND at>?3";

// Retention. These statements select batches, and must agree with the rules on what is old: OLD_BODIES with
// `Prune::removes_bytes`, and OLD_ENTRIES with `Prune::removes_entry`. The
// contract's cases of `prune` and the model test hold them to that.
/// Its index contains only entries that have bytes, so that others are never visited again.
pub(super) const OLD_BODIES: &str = "SELECT e.id, b.slot, length(b.body) FROM article_inbox_entries AS e \
    INDEXED BY article_inbox_entries_held \
    CROSS JOIN article_inbox_bodies AS b ON b.slot BETWEEN e.id * 16 AND e.id * 16 + 15 \
    WHERE e.state = 'done' AND e.held > 0 AND e.at < ?1 AND b.received_at <= ?1 AND b.body IS NOT NULL \
    ORDER BY e.at, e.id, b.slot LIMIT ?2";
pub(super) const EMPTY_BODY: &str = "UPDATE article_inbox_bodies SET body = NULL WHERE slot = ?1";
pub(super) const OLD_ENTRIES: &str =
    by_time!("SELECT id", "0 AND at < ?2 ORDER BY at, id LIMIT ?3");
pub(super) const REMOVE_BODIES: &str =
    "DELETE FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15";
pub(super) const REMOVE_ENTRY: &str = "DELETE FROM article_inbox_entries WHERE id = ?1";
pub(super) const OF_JOB: &str = "SELECT id FROM article_inbox_entries WHERE job_id = ?1";

// Reading.
pub(super) const COUNTS: &str = "SELECT state, count(*) FROM article_inbox_entries GROUP BY state";
pub(super) const DUE_SINCE: &str = by_time!("SELECT at", "?2 AND at <= ?3 ORDER BY at LIMIT 1");
pub(super) const SHOW: &str =
    concat!("SELECT ", shown!(), " FROM article_inbox_entries WHERE id = ?1");

// Start and health.
/// Selects entries of one state after a time: those that [`Row::follow`](crate::rules::Row::follow) or
/// [`Row::restart`](crate::rules::Row::restart) may change.
pub(super) const TIMED: &str = by_time!("SELECT id", "?2 AND at > ?3");
pub(super) const CLOCK: &str = "SELECT value FROM article_inbox_meta WHERE name = 'clock'";
pub(super) const STORE_CLOCK: &str =
    "UPDATE article_inbox_meta SET value = ?1 WHERE name = 'clock'";

// Damage.
/// All rows, also those that are in no index, and whether the number of bodies is wrong.
pub(super) const SCAN_ENTRIES: &str = concat!(
    "SELECT ",
    entry!(),
    ", held IS NOT (SELECT count(*) FROM article_inbox_bodies WHERE slot BETWEEN id * 16 AND id * 16 + 15 \
     AND body IS NOT NULL) FROM article_inbox_entries NOT INDEXED WHERE id > ?1 ORDER BY id LIMIT ?2"
);
/// Without the bytes, so that their pages are not read: an empty value of the same type stands for them.
pub(super) const SCAN_BODIES: &str = concat!(
    "SELECT ",
    body!(),
    ", CASE typeof(body) WHEN 'blob' THEN x'' WHEN 'null' THEN NULL ELSE 0 END \
     FROM article_inbox_bodies WHERE slot > ?1 ORDER BY slot LIMIT ?2"
);
pub(super) const PROBES: &str = "SELECT value FROM article_inbox_meta WHERE name = 'probes'";
pub(super) const RESET_PROBES: &str =
    "INSERT OR REPLACE INTO article_inbox_meta (name, value) VALUES ('probes', 0)";
pub(super) const SEQUENCES: &str = "SELECT rowid FROM sqlite_sequence";
/// Slots of bodies are sixteen times as large as ids.
pub(super) const SEQUENCE: &str = "SELECT typeof(name) = 'text' AND typeof(seq) = 'integer' \
    AND (name NOT IN ('article_inbox_entries', 'article_inbox_jobs', 'article_inbox_intents') \
    OR seq BETWEEN 0 AND 1 << 50) FROM sqlite_sequence WHERE rowid = ?1";
pub(super) const REMOVE_SEQUENCE: &str = "DELETE FROM sqlite_sequence WHERE rowid = ?1";
/// Rows of one key, which an index with damage let in.
pub(super) const TWINS: &str = "SELECT id FROM article_inbox_entries NOT INDEXED WHERE (job_id, event) IN \
    (SELECT job_id, event FROM article_inbox_entries NOT INDEXED GROUP BY job_id, event HAVING count(*) > 1) ORDER BY id";

pub(super) const PROBE: &str =
    "UPDATE article_inbox_meta SET value = value + 1 WHERE name = 'probes'";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::{Connection, StatementStatus};

    use super::*;
    use crate::store::sqlite::{connection::keep_statements, schema};

    pub(super) fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        schema::migrate(&connection, Path::new("/data/inbox.db")).unwrap();
        connection
    }

    pub(super) fn plan(connection: &Connection, statement: &str) -> Vec<String> {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        for parameter in 1..=plan.parameter_count() {
            plan.raw_bind_parameter(parameter, 1).unwrap();
        }
        let mut rows = plan.raw_query();
        let mut lines = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            lines.push(row.get(3).unwrap());
        }
        lines
    }

    #[test]
    fn every_statement_goes_by_an_index() {
        goes_by_an_index(&[
            LOAD,
            SAVE,
            ADD,
            COUNT_HELD,
            KNOWN_BODIES,
            BODIES,
            PUT_BODY,
            BODY_WITHOUT_BYTES,
            PUT_INTENT,
            COUNT_BODIES,
            HAS_HELD,
            HELD,
            BODIES_AFTER,
            COMPLETE,
            OLD_BODIES,
            EMPTY_BODY,
            REMOVE_BODIES,
            REMOVE_ENTRY,
            OF_JOB,
            SHOW,
            FIND_ID,
            ISOLATE,
            REMOVE_BODY,
            SCAN_ENTRIES,
            SCAN_BODIES,
            LIST,
            LIST_OTHER,
            LIST_STUCK,
            NEWEST,
            NEWEST_OTHER,
            NEWEST_STUCK,
            EXCERPT,
            CLOCK,
            STORE_CLOCK,
            PROBE,
        ]);
    }

    /// Asserts that no statement reads a whole table, that none sorts, and that none is prepared again for other values.
    pub(super) fn goes_by_an_index(statements: &[&str]) {
        let connection = database();
        keep_statements(&connection).unwrap();
        for statement in statements {
            for line in plan(&connection, statement) {
                let is_search = line.starts_with("SEARCH ")
                    || line.starts_with("SCALAR SUBQUERY")
                    || line.starts_with("CORRELATED SCALAR SUBQUERY");
                assert!(is_search, "{line}: {statement}");
            }
            let mut prepared = connection.prepare(statement).unwrap();
            for value in 1..=2 {
                for parameter in 1..=prepared.parameter_count() {
                    prepared.raw_bind_parameter(parameter, value).unwrap();
                }
                let _ = prepared.raw_query().next();
            }
            assert_eq!(prepared.get_status(StatementStatus::RePrepare), 0, "{statement}");
        }
    }

    #[test]
    fn what_needs_a_whole_index_reads_it_in_order_and_nothing_else() {
        let connection = database();
        let by_time =
            "SCAN article_inbox_entries USING COVERING INDEX article_inbox_entries_by_time";
        assert_eq!(plan(&connection, COUNTS), [by_time]);
        // Besides the targets of first bodies.
        let entries = |statement| {
            let mut plan = plan(&connection, statement);
            plan.retain(|line| !line.contains("SUBQUERY") && !line.contains("_bodies"));
            plan
        };
        for list in [LIST_LIVE, NEWEST_OF_FEW] {
            assert_eq!(
                entries(list),
                [
                    "SEARCH article_inbox_entries USING COVERING INDEX article_inbox_entries_by_time (state=?)",
                    "SEARCH article_inbox_entries USING INTEGER PRIMARY KEY (rowid=?)",
                    "USE TEMP B-TREE FOR ORDER BY"
                ]
            );
        }
        for list in [LIST_JOB, NEWEST_JOB] {
            assert_eq!(
                entries(list),
                [
                    "SEARCH article_inbox_entries USING COVERING INDEX sqlite_autoindex_article_inbox_entries_1 (job_id=?)",
                    "SEARCH article_inbox_entries USING INTEGER PRIMARY KEY (rowid=?)",
                    "USE TEMP B-TREE FOR ORDER BY"
                ]
            );
        }
    }

    #[test]
    fn what_is_due_is_found_by_its_state_its_kind_and_its_time() {
        let by_time = [DUE, NEXT, OLD_ENTRIES, DUE_SINCE, TIMED];
        goes_by_an_index(&by_time);
        for statement in by_time {
            let plan = plan(&database(), statement).concat();
            assert!(plan.contains("_by_time (state=? AND <expr>=?"), "{plan}");
        }
    }

    #[test]
    fn the_retention_looks_only_at_entries_that_have_bytes() {
        let plan = plan(&database(), OLD_BODIES);
        assert_eq!(
            plan,
            [
                "SEARCH e USING INDEX article_inbox_entries_held (at<?)",
                "SEARCH b USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
            ]
        );
    }
}
