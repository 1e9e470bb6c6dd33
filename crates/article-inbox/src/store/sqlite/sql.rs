//! Every statement, in one place, so that one test sees the plan of each.

// Entries.
pub(super) const FIND: &str = "SELECT id, state, cause IS NOT NULL FROM article_inbox_entries WHERE job_id = ?1 AND event = ?2";
pub(super) const ADD: &str = "INSERT INTO article_inbox_entries \
    (job_id, event, state, attempts, fence, at, received_at, conflicts, held, cause) \
    VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9)";
/// For an entry that was given up for want of a body that will do, and has another now.
pub(super) const REVIVE: &str = "UPDATE article_inbox_entries SET state = 'waiting', at = ?2, cause = NULL, \
    conflicts = conflicts + ?3 WHERE id = ?1";
pub(super) const CONFLICT: &str =
    "UPDATE article_inbox_entries SET conflicts = conflicts + 1, held = held + ?2 WHERE id = ?1";
/// Counts the bodies that still have bytes: by this the retention finds those that have any.
pub(super) const COUNT_HELD: &str = "UPDATE article_inbox_entries SET held = (SELECT count(*) \
    FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 AND body IS NOT NULL) WHERE id = ?1";

// Bodies: the slot is the entry's id times 16, plus the body's number in it.
pub(super) const DIGESTS: &str = "SELECT slot, digest FROM article_inbox_bodies \
    WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot";
pub(super) const BODIES: &str = "SELECT received_at, source, target, intent, digest, body FROM article_inbox_bodies \
    WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot";
pub(super) const PUT_BODY: &str = "INSERT OR REPLACE INTO article_inbox_bodies \
    (slot, received_at, source, target, intent, digest, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
pub(super) const MEND_BODY: &str = "UPDATE article_inbox_bodies SET body = ?2 WHERE slot = ?1";
pub(super) const COUNT_BODIES: &str =
    "SELECT count(*) FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15";
pub(super) const BODIES_AFTER: &str =
    "SELECT slot, digest, body FROM article_inbox_bodies WHERE slot > ?1 ORDER BY slot LIMIT ?2";

// Claims. Each state is a range of one index, in the order of due times and then of ids.
pub(super) const DUE: &str = "SELECT id, job_id, event, attempts, fence, received_at, at \
    FROM article_inbox_entries WHERE state = ?1 AND at <= ?2 ORDER BY at, id LIMIT ?3";
pub(super) const LEASE: &str = "UPDATE article_inbox_entries SET state = 'leased', attempts = attempts + 1, \
    fence = fence + 1, at = ?2 WHERE id = ?1";
pub(super) const GIVE_UP: &str = "UPDATE article_inbox_entries SET state = 'dead', at = ?2, \
    cause = coalesce(cause, 'the last attempt did not end') WHERE id = ?1";
pub(super) const NEXT: &str =
    "SELECT id, at FROM article_inbox_entries WHERE state = ?1 ORDER BY at, id LIMIT ?2";
pub(super) const EXTEND: &str = "UPDATE article_inbox_entries SET at = ?4 WHERE id = ?1 AND fence = ?2 AND state = 'leased' AND at > ?3";

// Outcomes.
pub(super) const STANDING: &str =
    "SELECT state, fence, at FROM article_inbox_entries WHERE id = ?1";
pub(super) const TURN: &str = "UPDATE article_inbox_entries SET state = ?2, at = ?3, cause = ?4, \
    attempts = max(attempts - ?5, 0) WHERE id = ?1";
pub(super) const RELEASE: &str = "UPDATE article_inbox_entries SET state = 'waiting', at = ?2, \
    attempts = max(attempts - 1, 0) WHERE id = ?1";
pub(super) const COMPLETE: &str = "UPDATE article_inbox_entries SET state='done', at=?3, cause=NULL \
    WHERE id=?1 AND fence=?2 AND state='leased' AND at>?3";
pub(super) const REQUEUE: &str = "UPDATE article_inbox_entries SET state = 'waiting', at = ?3, attempts = 0, \
    cause = NULL WHERE job_id = ?1 AND event = ?2 AND state IN ('dead', 'unhandled', 'corrupt')";
pub(super) const BURY: &str = "UPDATE article_inbox_entries SET state = 'dead', at = ?3, cause = ?4 \
    WHERE job_id = ?1 AND event = ?2 AND state IN ('waiting', 'unhandled', 'corrupt')";

// Retention.
/// The index of this holds only entries with bytes left, so that those without are never looked at again.
pub(super) const OLD_BODIES: &str = "SELECT e.id, b.slot, length(b.body) FROM article_inbox_entries AS e \
    INDEXED BY article_inbox_entries_held \
    CROSS JOIN article_inbox_bodies AS b ON b.slot BETWEEN e.id * 16 AND e.id * 16 + 15 \
    WHERE e.state = 'done' AND e.held > 0 AND e.at < ?1 AND b.received_at <= ?1 AND b.body IS NOT NULL \
    ORDER BY e.at, e.id, b.slot LIMIT ?2";
pub(super) const EMPTY_BODY: &str = "UPDATE article_inbox_bodies SET body = NULL WHERE slot = ?1";
pub(super) const OLD_ENTRIES: &str = "SELECT id, at FROM article_inbox_entries WHERE state = ?1 AND at < ?2 ORDER BY at, id LIMIT ?3";
pub(super) const REMOVE_BODIES: &str =
    "DELETE FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15";
pub(super) const REMOVE_ENTRY: &str = "DELETE FROM article_inbox_entries WHERE id = ?1";
pub(super) const OLD_HINTS: &str =
    "SELECT job_id FROM article_inbox_hints WHERE at < ?1 ORDER BY at, job_id LIMIT ?2";
pub(super) const REMOVE_HINT: &str = "DELETE FROM article_inbox_hints WHERE job_id = ?1";
pub(super) const OF_JOB: &str = "SELECT id FROM article_inbox_entries WHERE job_id = ?1";

// Hints.
pub(super) const HINT: &str = "INSERT INTO article_inbox_hints (job_id, at, code) VALUES (?1, ?2, ?3) ON CONFLICT (job_id) DO NOTHING";
pub(super) const HINTS: &str =
    "SELECT job_id, at, code FROM article_inbox_hints ORDER BY at, job_id LIMIT ?1";

// Looking.
pub(super) const COUNTS: &str = "SELECT state, count(*) FROM article_inbox_entries GROUP BY state";
pub(super) const DUE_SINCE: &str =
    "SELECT at FROM article_inbox_entries WHERE state = 'waiting' AND at <= ?1 ORDER BY at LIMIT 1";
pub(super) const KEY: &str = "SELECT job_id, event FROM article_inbox_entries WHERE id = ?1";
pub(super) const SHOW: &str = "SELECT id, job_id, event, state, attempts, received_at, at, conflicts, cause \
    FROM article_inbox_entries WHERE job_id = ?1 AND event = ?2";

/// Lists have the same parameters, whichever index they go by: after, limit, state, event, job.
macro_rules! list {
    ($by:literal) => {
        concat!(
            "SELECT id, job_id, event, state, attempts, received_at, at, conflicts, cause FROM article_inbox_entries ",
            $by,
            " AND id > ?1 AND (?3 IS NULL OR state = ?3) AND (?4 IS NULL OR event = ?4) \
             AND (?5 IS NULL OR job_id = ?5) ORDER BY id LIMIT ?2"
        )
    };
}
pub(super) const LIST: &str = list!("NOT INDEXED WHERE TRUE");
pub(super) const LIST_JOB: &str = list!("WHERE job_id = ?5");
pub(super) const LIST_OTHER: &str = list!("WHERE event <> 'article.complete' AND event = ?4");
pub(super) const LIST_STUCK: &str =
    list!("WHERE state IN ('dead', 'unhandled', 'corrupt') AND state = ?3");
/// Sorted, for there are few of them next to those that are done.
pub(super) const LIST_LIVE: &str =
    list!("INDEXED BY article_inbox_entries_by_time WHERE state = ?3");

// Start and health.
/// Due at once; but one that was cut off more than once may be what ended the process, so that those that were at work
/// together are not at work together again: else healthy ones would be given up with it.
pub(super) const FREE_LEASES: &str = "UPDATE article_inbox_entries SET state = 'waiting', \
    at = ?1 + 1000 * max(attempts - 1, 0) * (1 + id % 8) WHERE state = 'leased'";
pub(super) const PULL_IN: &str =
    "UPDATE article_inbox_entries SET at = ?1 WHERE state = 'waiting' AND at > ?1";
pub(super) const PROBE: &str =
    "UPDATE article_inbox_meta SET value = value + 1 WHERE name = 'probes'";
