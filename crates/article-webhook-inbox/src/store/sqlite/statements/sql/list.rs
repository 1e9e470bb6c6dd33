//! Lists of entries, and the beginnings of their bodies.

/// The lists differ only in the index by which they find ids. All have the parameters after, limit, state, event, job,
/// target and time, and must agree with [`Filter::accepts`](crate::Filter::accepts).
macro_rules! list {
    ($by:literal) => {
        list!($by, "> ?1", "")
    };
    ($by:literal, newest first) => {
        list!($by, "< ?1", " DESC")
    };
    ($by:literal, $after:literal, $order:literal) => {
        concat!(
            "SELECT ",
            shown!(),
            " FROM (SELECT id AS found FROM article_inbox_entries ",
            $by,
            " AND id ",
            $after,
            ") CROSS JOIN article_inbox_entries ON id = found \
             WHERE (?3 IS NULL OR state = ?3) AND (?4 IS NULL OR event = ?4) \
             AND (?5 IS NULL OR job_id = ?5) AND (?7 IS NULL OR received_at < ?7) \
             AND (?6 IS NULL OR (SELECT target FROM article_inbox_bodies WHERE slot = id * 16) = ?6) \
             ORDER BY found",
            $order,
            " LIMIT ?2"
        )
    };
}
pub(in super::super) const LIST: &str = list!("NOT INDEXED WHERE TRUE");
pub(in super::super) const LIST_JOB: &str = list!("WHERE job_id = ?5");
pub(in super::super) const LIST_OTHER: &str =
    list!("WHERE event <> 'article.complete' AND event = ?4");
/// In the words of the index: SQLite would build a table of the values of `IN` for each entry that is written.
pub(in super::super) const LIST_STUCK: &str =
    list!("WHERE (state = 'dead' OR state = 'unhandled' OR state = 'corrupt') AND state = ?3");
/// Sorts its result. There are few such entries, compared to those that are done.
pub(in super::super) const LIST_LIVE: &str =
    list!("INDEXED BY article_inbox_entries_by_time WHERE state = ?3");
pub(in super::super) const NEWEST: &str = list!("NOT INDEXED WHERE TRUE", newest first);
pub(in super::super) const NEWEST_JOB: &str = list!("WHERE job_id = ?5", newest first);
pub(in super::super) const NEWEST_OTHER: &str =
    list!("WHERE event <> 'article.complete' AND event = ?4", newest first);
pub(in super::super) const NEWEST_STUCK: &str = list!(
    "WHERE (state = 'dead' OR state = 'unhandled' OR state = 'corrupt') AND state = ?3",
    newest first
);
/// Sorts its result. For states that few entries have.
pub(in super::super) const NEWEST_OF_FEW: &str =
    list!("INDEXED BY article_inbox_entries_by_time WHERE state = ?3", newest first);
/// How many entries are in a state, and not more than the limit.
pub(in super::super) const COUNT_FEW: &str = "SELECT count(*) FROM (SELECT TRUE FROM article_inbox_entries \
    INDEXED BY article_inbox_entries_by_time WHERE state = ?1 LIMIT ?2)";
/// The parameters are the id of the entry, how many bytes, and the greatest length of a body that is read.
pub(in super::super) const EXCERPT: &str = concat!(
    "SELECT ",
    body!(),
    ", length(body), CASE WHEN length(body) <= ?3 THEN substr(body, 1, ?2) END \
     FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot LIMIT 1"
);
