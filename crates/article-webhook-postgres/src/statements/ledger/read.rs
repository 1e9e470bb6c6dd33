use std::time::Duration;

use article_webhook::JobId;
use article_webhook_inbox::{
    ExpectedJob, Intent, IntentState, JobFilter, JobState, LedgerCounts, LedgerPage, OVERDUE,
    store::{Bucket, LAST_DELIVERY, from_millis, to_millis},
};
use tokio_postgres::{Row, types::Type};

use super::rows::{self, StoredIntent, StoredJob, stored_intent, stored_job};
use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

const JOB: &str = concat!("SELECT ", rows::job!(), " FROM article_inbox_jobs WHERE job_id = $1");

/// Must agree with [`JobFilter::accepts`].
const JOBS: &str = concat!(
    "SELECT ",
    rows::job!(),
    " FROM article_inbox_jobs WHERE id > $1 AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR intent = $4) \
     AND ($5 IS NULL OR expected_at < $5) ORDER BY id LIMIT $2"
);

const INTENT: &str =
    concat!("SELECT ", rows::intent!(), " FROM article_inbox_intents WHERE name = $1");

/// Must agree with [`IntentRow::state_at`](article_webhook_inbox::store::IntentRow::state_at): `unknown` is not stored.
const INTENTS: &str = concat!(
    "SELECT ",
    rows::intent!(),
    " FROM article_inbox_intents WHERE id > $1 AND ($3 IS NULL OR CASE WHEN state = 'ordering' AND at <= $4 \
     THEN 'unknown' ELSE state END = $3) ORDER BY id LIMIT $2"
);

/// How many jobs are in each state, and how many of them were recovered. This reads all jobs, once. It must agree with
/// [`LedgerCounts::add`], and so must the next.
const STATES: &str = "SELECT state, count(*), count(*) FILTER (WHERE state = 'collected' AND collected_at <= $1 - $2 \
    AND (pushed_at IS NULL OR pushed_at > collected_at + $2)) FROM article_inbox_jobs GROUP BY state";

/// The figures of what is open.
const OPEN: &str = "SELECT (SELECT min(expected_at) FROM article_inbox_jobs WHERE is_open), \
    (SELECT count(*) FROM article_inbox_jobs WHERE is_open AND expected_at <= $1 - $2), \
    (SELECT count(*) FROM article_inbox_intents WHERE state = 'ordering' AND at <= $1)";

/// A job, if the ledger has it.
pub(crate) fn job<'t>(tx: &'t Transaction<'t>, job_id: &'t JobId) -> Work<'t, Option<ExpectedJob>> {
    Box::pin(async move {
        let rows = tx.query(JOB, &[(&job_id.as_str(), Type::TEXT)]).await?;
        rows.first().map(shown).transpose()
    })
}

fn shown(row: &Row) -> Result<ExpectedJob, Fault> {
    let StoredJob { id, job_id, row, .. } = stored_job(row)?;
    Ok(row.into_job(id, job_id))
}

/// A page of jobs, by ascending id.
pub(crate) fn jobs<'t>(
    tx: &'t Transaction<'t>,
    filter: &'t JobFilter,
) -> Work<'t, LedgerPage<ExpectedJob>> {
    Box::pin(async move {
        let one_more = i64::from(filter.limit) + 1;
        let (state, before) =
            (filter.state.map(JobState::as_str), filter.expected_before.map(to_millis));
        let parameters = [
            (&filter.after as _, Type::INT8),
            (&one_more as _, Type::INT8),
            (&state as _, Type::TEXT),
            (&filter.intent as _, Type::TEXT),
            (&before as _, Type::INT8),
        ];
        let rows = tx.query(JOBS, &parameters).await?;
        let jobs = rows.iter().map(shown).collect::<Result<_, _>>()?;
        Ok(LedgerPage::new(jobs, filter.limit, |job| job.id))
    })
}

/// An intent, if the ledger has it.
pub(crate) fn intent<'t>(tx: &'t Transaction<'t>, name: &'t str) -> Work<'t, Option<Intent>> {
    Box::pin(async move {
        let rows = tx.query(INTENT, &[(&name, Type::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let StoredIntent { id, name, row, .. } = stored_intent(row)?;
        Ok(Some(row.into_intent(id, name, tx.now().await?)))
    })
}

/// Which intents to list: their state, after which id, and how many.
pub(crate) type IntentFilter = (Option<IntentState>, i64, u32);

/// A page of intents, by ascending id.
pub(crate) fn intents<'t>(
    tx: &'t Transaction<'t>,
    (state, after, limit): &'t IntentFilter,
) -> Work<'t, LedgerPage<Intent>> {
    Box::pin(async move {
        let now = tx.now().await?;
        let (one_more, state, at) =
            (i64::from(*limit) + 1, state.map(IntentState::as_str), to_millis(now));
        let parameters = [
            (after as _, Type::INT8),
            (&one_more as _, Type::INT8),
            (&state as _, Type::TEXT),
            (&at as _, Type::INT8),
        ];
        let rows = tx.query(INTENTS, &parameters).await?;
        let shown = |row| {
            let StoredIntent { id, name, row, .. } = stored_intent(row)?;
            Ok::<_, Fault>(row.into_intent(id, name, now))
        };
        let intents = rows.iter().map(shown).collect::<Result<_, _>>()?;
        Ok(LedgerPage::new(intents, *limit, |intent| intent.id))
    })
}

/// The bucket. Before its first use, it is full.
pub(crate) fn bucket<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, Bucket> {
    Box::pin(super::bucket::load(tx))
}

/// The figures of the ledger.
pub(crate) fn ledger_counts<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, LedgerCounts> {
    Box::pin(async move {
        let mut counts = LedgerCounts::default();
        let (now, overdue, last) =
            (to_millis(tx.now().await?), millis(OVERDUE), millis(LAST_DELIVERY));
        let count =
            |row: &Row, column| Ok::<_, Fault>(row.try_get::<_, i64>(column)?.unsigned_abs());
        let parameters = [(&now as _, Type::INT8), (&last as _, Type::INT8)];
        for row in tx.query(STATES, &parameters).await? {
            if let Some(state) = row.try_get(0).ok().and_then(JobState::from_name) {
                counts.states[state as usize] = count(&row, 1)?;
            }
            counts.recovered += count(&row, 2)?;
        }
        let parameters = [(&now as _, Type::INT8), (&overdue as _, Type::INT8)];
        let rows = tx.query(OPEN, &parameters).await?;
        let row = first(&rows)?;
        counts.oldest_expected = row.try_get::<_, Option<i64>>(0)?.map(from_millis);
        counts.overdue = count(row, 1)?;
        counts.unknown_intents = count(row, 2)?;
        Ok(counts)
    })
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
