use article_inbox::{
    EntryKey, JobState, State,
    store::{ArticleEntry, Expect, JobRow, from_millis},
};
use article_webhook::JobId;
use tokio_postgres::types::Type;

use super::{
    super::rows::{JOB_ID, StoredRow, lock_key, remove},
    intents,
    rows::{self, StoredJob, stored_job},
    stripes,
};
use crate::{
    connection::{Transaction, Work},
    fault::Fault,
};

const LOCK: &str =
    concat!("SELECT ", rows::job!(), " FROM article_inbox_jobs WHERE job_id = $1 FOR UPDATE");
const LOCK_ID: &str =
    concat!("SELECT ", rows::job!(), " FROM article_inbox_jobs WHERE id = $1 FOR UPDATE");

/// Locks jobs in the order of their ids.
pub(super) const LOCK_ALL: &str = concat!(
    "SELECT ",
    rows::job!(),
    " FROM article_inbox_jobs WHERE job_id = ANY($1) ORDER BY job_id FOR UPDATE"
);

const LOCK_OF_ENTRY: &str = "SELECT FROM article_inbox_jobs WHERE job_id = (SELECT job_id FROM article_inbox_entries \
    WHERE id = $1 AND event = 'article.complete') FOR UPDATE";

/// The state of an article's entry, and when its first bodies came by each way.
const ARTICLE: &str = "SELECT e.state, min(b.received_at) FILTER (WHERE b.source <> 'api'), \
    min(b.received_at) FILTER (WHERE b.source = 'api') \
    FROM article_inbox_entries e LEFT JOIN article_inbox_bodies b ON b.entry = e.id \
    WHERE e.job_id = $1 AND e.event = 'article.complete' GROUP BY e.id";

/// Finds a job, and keeps others from changing it.
pub(super) async fn lock(tx: &Transaction<'_>, job_id: &JobId) -> Result<Option<StoredJob>, Fault> {
    let rows = tx.query(LOCK, &[(&job_id.as_str(), Type::TEXT)]).await?;
    rows.first().map(stored_job).transpose()
}

/// Keeps others from adding or changing the job of an article. Wherever an entry changes together with its job, this comes
/// first.
pub(in super::super) async fn lock_of(tx: &Transaction<'_>, key: &EntryKey) -> Result<(), Fault> {
    if key.is_article() {
        stripes::take(tx, std::iter::once(&key.job_id)).await?;
        lock(tx, &key.job_id).await?;
    }
    Ok(())
}

/// The same for the article of an entry that is not loaded yet.
pub(in super::super) async fn lock_of_entry(tx: &Transaction<'_>, id: i64) -> Result<(), Fault> {
    stripes::take_of_entry(tx, id).await?;
    tx.query(LOCK_OF_ENTRY, &[(&id, Type::INT8)]).await?;
    Ok(())
}

/// Loads a job by its id, and keeps others from changing it.
pub(super) async fn lock_id(tx: &Transaction<'_>, id: i64) -> Result<Option<StoredJob>, Fault> {
    let rows = tx.query(LOCK_ID, &[(&id, Type::INT8)]).await?;
    rows.first().map(stored_job).transpose()
}

/// Writes a job back, if it changed. If its article came, a failure that waits is not handed out any more.
pub(super) async fn save(
    tx: &Transaction<'_>,
    stored: &StoredJob,
    before: &JobRow,
) -> Result<(), Fault> {
    if stored.row == *before {
        return Ok(());
    }
    if stored.row.has_arrived_since(before.state)
        && let Some(failure) = lock_key(tx, &EntryKey::failure(stored.job_id.clone())).await?
        && failure.row.is_overtaken()
    {
        remove(tx, &[failure.id]).await?;
    }
    rows::save_job(tx, stored).await
}

/// The entry of a job's article, as far as the ledger needs to know it.
pub(super) async fn article_entry(
    tx: &Transaction<'_>,
    job_id: &JobId,
) -> Result<Option<ArticleEntry>, Fault> {
    let rows = tx.query(ARTICLE, &[(&job_id.as_str(), Type::TEXT)]).await?;
    let Some(found) = rows.first() else { return Ok(None) };
    let time = |column| Ok::<_, Fault>(found.try_get::<_, Option<i64>>(column)?.map(from_millis));
    let state = found.try_get(0).ok().and_then(State::from_name).unwrap_or(State::Corrupt);
    Ok(Some(ArticleEntry { state, pushed_at: time(1)?, collected_at: time(2)? }))
}

/// Tells the ledger that an entry may be in another state.
pub(in super::super) async fn follow(tx: &Transaction<'_>, entry: &StoredRow) -> Result<(), Fault> {
    let job_id = &entry.key.job_id;
    if !entry.key.is_article() {
        return Ok(());
    }
    let Some(mut job) = lock(tx, job_id).await? else { return Ok(()) };
    let Some(entry) = article_entry(tx, job_id).await? else { return Ok(()) };
    let before = job.row.clone();
    job.row.follow_entry(entry.state, entry.source(), tx.now().await?);
    save(tx, &job, &before).await
}

/// Retention removes an entry. What is known of its job stays.
pub(in super::super) async fn add_pruned(
    tx: &Transaction<'_>,
    entry: &StoredRow,
) -> Result<(), Fault> {
    let job_id = &entry.key.job_id;
    if !entry.key.is_article() || entry.damage == Some(JOB_ID) || lock(tx, job_id).await?.is_some()
    {
        return Ok(());
    }
    let Some(article) = article_entry(tx, job_id).await? else { return Ok(()) };
    if let Some(row) = JobRow::of_pruned(job_id, &article, entry.row.at) {
        rows::add_job(tx, job_id, row).await?;
    }
    Ok(())
}

/// Expects jobs, as [`Ledger::expect`](article_inbox::store::Ledger::expect) says.
pub(crate) fn expect<'t>(tx: &'t Transaction<'t>, jobs: &'t [Expect]) -> Work<'t, Vec<JobState>> {
    Box::pin(async move {
        // Two nodes that expect the same jobs take them in the same order.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|index| jobs[*index].job_id.as_str());
        stripes::take(tx, jobs.iter().map(|expect| &expect.job_id)).await?;
        if jobs.len() > 1 {
            let ids: Vec<_> = jobs.iter().map(|expect| expect.job_id.as_str()).collect();
            tx.query(LOCK_ALL, &[(&ids, Type::TEXT_ARRAY)]).await?;
            intents::lock_all(tx, jobs.iter().filter_map(|expect| expect.intent.as_deref()))
                .await?;
        }
        let mut states = vec![JobState::Expected; jobs.len()];
        for index in order {
            states[index] = expect_one(tx, &jobs[index]).await?;
        }
        Ok(states)
    })
}

pub(super) async fn expect_one(tx: &Transaction<'_>, expect: &Expect) -> Result<JobState, Fault> {
    let known = lock(tx, &expect.job_id).await?;
    intents::resolve(tx, expect.intent.as_deref(), &expect.job_id, tx.now().await?).await?;
    let Some(mut job) = known else {
        let entry = article_entry(tx, &expect.job_id).await?;
        let row = JobRow::new(expect, entry.as_ref(), tx.now().await?);
        return Ok(rows::add_job(tx, &expect.job_id, row).await?.row.state);
    };
    let before = job.row.clone();
    job.row.expect(expect, tx.now().await?);
    save(tx, &job, &before).await?;
    Ok(job.row.state)
}

/// Erases a job and the link of its intent.
pub(in super::super) async fn forget(tx: &Transaction<'_>, job_id: &JobId) -> Result<(), Fault> {
    let forget = "DELETE FROM article_inbox_jobs WHERE job_id = $1 RETURNING intent";
    let rows = tx.query(forget, &[(&job_id.as_str(), Type::TEXT)]).await?;
    let intent = rows.first().and_then(|row| row.try_get(0).unwrap_or_default());
    intents::forget(tx, job_id, intent).await
}
