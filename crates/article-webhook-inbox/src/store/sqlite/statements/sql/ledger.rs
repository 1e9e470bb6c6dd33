//! The statements of the ledger.

/// The columns of a stored job, in the order in which [`rows::read_job`](super::super::rows::read_job) reads them. The last
/// is the checksum of the others. `lane` is [`JobRow::lane`](crate::rules::JobRow::lane) of an open job, and `NULL` for one
/// that ended, so that indexes tell them apart.
macro_rules! job {
    () => {
        "id, job_id, state, reason, intent, expected_at, at, asks, fence, key, missing, missing_since, pushed_at, \
         collected_at, unreadable_since, returned, cause, lane, checksum"
    };
}

/// The columns of a stored intent, in the order in which [`rows::read_intent`](super::super::rows::read_intent) reads them.
/// The last is the checksum of the others.
macro_rules! intent {
    () => {
        "id, name, state, created_at, at, fence, job_id, forgotten, checksum"
    };
}

/// The table of a version without a ledger.
pub(in super::super) const EARLIER_JOBS: &str =
    "SELECT job_id, at, code FROM article_inbox_hints NOT INDEXED";

/// The id that the next job or intent gets. Both are numbered together, and no number is used again.
pub(in super::super) const NEXT_ID: &str = "SELECT max( \
    ifnull((SELECT max(id) FROM article_inbox_jobs), 0), ifnull((SELECT max(id) FROM article_inbox_intents), 0), \
    ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name IN ('article_inbox_jobs', 'article_inbox_intents')), 0)) + 1";

// Jobs. A row is always read from its table, and compared with what led to it.
pub(in super::super) const LOAD_JOB: &str =
    concat!("SELECT ", job!(), " FROM article_inbox_jobs WHERE id = ?1");
pub(in super::super) const FIND_JOB: &str =
    "SELECT id FROM article_inbox_jobs WHERE job_id = ?1 ORDER BY id";
/// The parameters are the columns of [`job!`].
pub(in super::super) const ADD_JOB: &str = concat!(
    "INSERT INTO article_inbox_jobs (",
    job!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
);
pub(in super::super) const SAVE_JOB: &str = "UPDATE article_inbox_jobs SET state = ?3, reason = ?4, intent = ?5, \
    expected_at = ?6, at = ?7, asks = ?8, fence = ?9, key = ?10, missing = ?11, missing_since = ?12, pushed_at = ?13, \
    collected_at = ?14, unreadable_since = ?15, returned = ?16, cause = ?17, lane = ?18, checksum = ?19 WHERE id = ?1";
/// Writes a whole row, so that every value has the type of its column again.
pub(in super::super) const MEND_JOB: &str = "UPDATE article_inbox_jobs SET job_id = ?2, state = ?3, reason = ?4, \
    intent = ?5, expected_at = ?6, at = ?7, asks = ?8, fence = ?9, key = ?10, missing = ?11, missing_since = ?12, \
    pushed_at = ?13, collected_at = ?14, unreadable_since = ?15, returned = ?16, cause = ?17, lane = ?18, checksum = ?19 \
    WHERE id = ?1";
pub(in super::super) const REMOVE_JOB: &str = "DELETE FROM article_inbox_jobs WHERE id = ?1";
/// How and when the bodies of an entry came, for [`ArticleEntry`](crate::rules::ArticleEntry).
pub(in super::super) const COPIES: &str = "SELECT source, received_at FROM article_inbox_bodies \
    WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot";

// Asks.
/// Selects jobs that [`JobRow::is_due`](crate::rules::JobRow::is_due) accepts, in a lane: a range of one index, in the order
/// of `at` and then of `id`. What waits is not touched.
pub(in super::super) const DUE_JOBS: &str =
    "SELECT id FROM article_inbox_jobs WHERE lane = ?1 AND at <= ?2 ORDER BY at, id";
pub(in super::super) const NEXT_JOBS: &str =
    "SELECT id, at FROM article_inbox_jobs WHERE lane = ?1 ORDER BY at, id LIMIT ?2";

// Retention and the clock.
/// Selects jobs that [`JobRow::is_pruned`](crate::rules::JobRow::is_pruned) accepts.
pub(in super::super) const OLD_JOBS: &str =
    "SELECT id FROM article_inbox_jobs WHERE lane IS NULL AND at < ?1 ORDER BY at, id LIMIT ?2";
/// Selects jobs that [`JobRow::restart`](crate::rules::JobRow::restart) may change: those under a lease, those that wait
/// longer than any may, and those that are expected since a time to come.
pub(in super::super) const ASKING: &str =
    "SELECT id FROM article_inbox_jobs WHERE state = 'asking' ORDER BY id";
pub(in super::super) const AHEAD: &str =
    "SELECT id FROM article_inbox_jobs WHERE lane = ?1 AND at > ?2";
pub(in super::super) const EXPECTED_AHEAD: &str =
    "SELECT id FROM article_inbox_jobs WHERE lane IS NOT NULL AND expected_at > ?1";
/// Selects jobs that [`JobRow::follow`](crate::rules::JobRow::follow) changes.
pub(in super::super) const OPEN_JOBS: &str = "SELECT id FROM article_inbox_jobs \
    INDEXED BY article_inbox_jobs_by_lane WHERE lane = ?1";

// Intents.
pub(in super::super) const LOAD_INTENT: &str =
    concat!("SELECT ", intent!(), " FROM article_inbox_intents WHERE id = ?1");
pub(in super::super) const FIND_INTENT: &str =
    "SELECT id FROM article_inbox_intents WHERE name = ?1 ORDER BY id";
/// The parameters are the columns of [`intent!`].
pub(in super::super) const ADD_INTENT: &str = concat!(
    "INSERT INTO article_inbox_intents (",
    intent!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
);
pub(in super::super) const SAVE_INTENT: &str = "UPDATE article_inbox_intents SET state = ?3, created_at = ?4, at = ?5, \
    fence = ?6, job_id = ?7, forgotten = ?8, checksum = ?9 WHERE id = ?1";
pub(in super::super) const MEND_INTENT: &str = "UPDATE article_inbox_intents SET name = ?2, state = ?3, created_at = ?4, \
    at = ?5, fence = ?6, job_id = ?7, forgotten = ?8, checksum = ?9 WHERE id = ?1";
pub(in super::super) const REMOVE_INTENT: &str = "DELETE FROM article_inbox_intents WHERE id = ?1";
pub(in super::super) const INTENTS_OF_JOB: &str =
    "SELECT id FROM article_inbox_intents WHERE job_id = ?1";
/// The intents that may become a job of which the ledger knows no intent.
pub(in super::super) const INTENTS_WITHOUT_JOB: &str =
    "SELECT id FROM article_inbox_intents WHERE state IN ('ordering', 'abandoned')";
/// Selects intents that [`IntentRow::follow`](crate::rules::IntentRow::follow) changes.
pub(in super::super) const ORDERING: &str =
    "SELECT id FROM article_inbox_intents WHERE state = 'ordering' ORDER BY id";
/// Selects intents that [`IntentRow::restart`](crate::rules::IntentRow::restart) may change.
pub(in super::super) const ORDERING_AHEAD: &str =
    "SELECT id FROM article_inbox_intents WHERE state = 'ordering' AND at > ?1";

// The bucket.
pub(in super::super) const LOAD_BUCKET: &str = "SELECT used, refilled_at, share, shared_at, limited_since, limited_until, \
    limited_why, refused, refused_at, key, turn, orders, checksum FROM article_inbox_bucket WHERE id = 1";
pub(in super::super) const SAVE_BUCKET: &str = "INSERT OR REPLACE INTO article_inbox_bucket (id, used, refilled_at, share, \
    shared_at, limited_since, limited_until, limited_why, refused, refused_at, key, turn, orders, checksum) \
    VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

// Reading. The lists lead to ids in ascending order; their rows must pass `JobFilter::accepts`, and an intent must be in
// the state that is asked for.
pub(in super::super) const JOBS: &str =
    "SELECT id FROM article_inbox_jobs NOT INDEXED WHERE id > ?1 ORDER BY id";
pub(in super::super) const JOBS_IN_STATE: &str =
    "SELECT id FROM article_inbox_jobs WHERE state = ?2 AND id > ?1 ORDER BY id";
pub(in super::super) const JOBS_OF_INTENT: &str =
    "SELECT id FROM article_inbox_jobs WHERE intent = ?2 AND id > ?1 ORDER BY id";
pub(in super::super) const INTENTS: &str =
    "SELECT id FROM article_inbox_intents NOT INDEXED WHERE id > ?1 ORDER BY id";
pub(in super::super) const INTENTS_IN_STATE: &str =
    "SELECT id FROM article_inbox_intents WHERE state = ?2 AND id > ?1 ORDER BY id";

// Figures. They come from the indexes alone, and must agree with `LedgerCounts::add` and with `IntentRow::state_at`.
pub(in super::super) const COUNT_JOBS: &str =
    "SELECT state, count(*) FROM article_inbox_jobs GROUP BY state";
pub(in super::super) const OLDEST_EXPECTED: &str = "SELECT expected_at FROM article_inbox_jobs \
    WHERE lane IS NOT NULL AND expected_at IS NOT NULL ORDER BY expected_at LIMIT 1";
pub(in super::super) const COUNT_OVERDUE: &str =
    "SELECT count(*) FROM article_inbox_jobs WHERE lane IS NOT NULL AND expected_at <= ?1";
/// The parameters are the time and the pause in which a delivery may still come.
pub(in super::super) const COUNT_RECOVERED: &str = "SELECT count(*) FROM article_inbox_jobs \
    WHERE state = 'collected' AND collected_at <= ?1 - ?2 AND (pushed_at IS NULL OR pushed_at > collected_at + ?2)";
pub(in super::super) const COUNT_UNKNOWN: &str =
    "SELECT count(*) FROM article_inbox_intents WHERE state = 'ordering' AND at <= ?1";

// Damage.
pub(in super::super) const SCAN_JOBS: &str = concat!(
    "SELECT ",
    job!(),
    " FROM article_inbox_jobs NOT INDEXED WHERE id > ?1 ORDER BY id LIMIT ?2"
);
pub(in super::super) const SCAN_INTENTS: &str = concat!(
    "SELECT ",
    intent!(),
    " FROM article_inbox_intents NOT INDEXED WHERE id > ?1 ORDER BY id LIMIT ?2"
);
/// Rows of one job or of one name, which an index with damage let in.
pub(in super::super) const JOB_TWINS: &str = "SELECT job_id FROM article_inbox_jobs \
    INDEXED BY article_inbox_jobs_key GROUP BY job_id HAVING count(*) > 1";
pub(in super::super) const INTENT_TWINS: &str = "SELECT name FROM article_inbox_intents \
    INDEXED BY article_inbox_intents_key GROUP BY name HAVING count(*) > 1";

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{database, goes_by_an_index, plan},
        *,
    };

    #[test]
    fn every_statement_goes_by_an_index() {
        goes_by_an_index(&[
            LOAD_JOB,
            FIND_JOB,
            ADD_JOB,
            SAVE_JOB,
            MEND_JOB,
            REMOVE_JOB,
            COPIES,
            DUE_JOBS,
            NEXT_JOBS,
            OLD_JOBS,
            ASKING,
            AHEAD,
            EXPECTED_AHEAD,
            OPEN_JOBS,
            LOAD_INTENT,
            FIND_INTENT,
            ADD_INTENT,
            SAVE_INTENT,
            MEND_INTENT,
            REMOVE_INTENT,
            INTENTS_OF_JOB,
            INTENTS_WITHOUT_JOB,
            ORDERING,
            ORDERING_AHEAD,
            LOAD_BUCKET,
            SAVE_BUCKET,
            JOBS,
            JOBS_IN_STATE,
            JOBS_OF_INTENT,
            INTENTS,
            INTENTS_IN_STATE,
            COUNT_OVERDUE,
            COUNT_RECOVERED,
            COUNT_UNKNOWN,
            SCAN_JOBS,
            SCAN_INTENTS,
        ]);
    }

    #[test]
    fn an_ask_and_a_figure_read_nothing_but_what_they_are_about() {
        let connection = database();
        let due = "SEARCH article_inbox_jobs USING COVERING INDEX article_inbox_jobs_by_lane (lane=? AND at<?)";
        assert_eq!(plan(&connection, DUE_JOBS), [due]);
        let old = "SEARCH article_inbox_jobs USING COVERING INDEX article_inbox_jobs_by_lane (lane=? AND at<?)";
        assert_eq!(plan(&connection, OLD_JOBS), [old]);
        for (statement, index) in [
            (OLDEST_EXPECTED, "article_inbox_jobs_open"),
            (COUNT_OVERDUE, "article_inbox_jobs_open"),
            (COUNT_RECOVERED, "article_inbox_jobs_collected"),
            (COUNT_UNKNOWN, "article_inbox_intents_by_time"),
            (ORDERING_AHEAD, "article_inbox_intents_by_time"),
            (COUNT_JOBS, "article_inbox_jobs_by_state"),
            (JOB_TWINS, "article_inbox_jobs_key"),
            (INTENT_TWINS, "article_inbox_intents_key"),
        ] {
            let plan = plan(&connection, statement);
            let covering = format!("USING COVERING INDEX {index}");
            assert!(plan.len() == 1 && plan[0].contains(&covering), "{plan:?}: {statement}");
        }
    }
}
