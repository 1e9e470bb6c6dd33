use std::collections::{BTreeMap, HashMap, HashSet};

use article_webhook::JobId;
use article_webhook_inbox::{
    EntryKey, JobState, State,
    store::{ArticleEntry, Expect, JobRow, from_millis},
};
use tokio_postgres::types::Type;

use super::{
    super::rows::{JOB_ID, StoredRow, lock_key, remove},
    intents, job_locks,
    rows::{self, StoredJob, stored_job},
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

/// The states of articles' entries, and when their first bodies came by each way. Entries and bodies are looked for one by one
/// (`OFFSET 0`), so that no whole table is read.
const ARTICLES: &str = "SELECT e.job_id, e.state, min(b.received_at) FILTER (WHERE b.source <> 'api'), \
    min(b.received_at) FILTER (WHERE b.source = 'api') FROM unnest($1::text[]) AS wanted (job_id) CROSS JOIN LATERAL \
    (SELECT * FROM article_inbox_entries WHERE job_id = wanted.job_id AND event = 'article.complete' OFFSET 0) AS e \
    LEFT JOIN LATERAL (SELECT * FROM article_inbox_bodies WHERE entry = e.id OFFSET 0) AS b ON true \
    GROUP BY e.job_id, e.state";

const KNOWN: &str = "SELECT job_id FROM article_inbox_jobs WHERE job_id = ANY($1)";

/// Finds a job, and keeps others from changing it.
pub(super) async fn lock(tx: &Transaction<'_>, job_id: &JobId) -> Result<Option<StoredJob>, Fault> {
    let rows = tx.query(LOCK, &[(&job_id.as_str(), Type::TEXT)]).await?;
    rows.first().map(stored_job).transpose()
}

/// Keeps others from adding or changing the job of an article. Wherever an entry changes together with its job, this comes
/// first.
pub(in super::super) async fn lock_of(tx: &Transaction<'_>, key: &EntryKey) -> Result<(), Fault> {
    if key.is_article() {
        job_locks::take(tx, std::iter::once(&key.job_id)).await?;
        lock(tx, &key.job_id).await?;
    }
    Ok(())
}

/// Whether an article was here, as its job says.
pub(in super::super) async fn is_tombstone(
    tx: &Transaction<'_>,
    key: &EntryKey,
) -> Result<bool, Fault> {
    let job = if key.is_article() { lock(tx, &key.job_id).await? } else { None };
    Ok(job.is_some_and(|job| job.row.is_tombstone()))
}

/// The same for the article of an entry that is not loaded yet.
pub(in super::super) async fn lock_of_entry(tx: &Transaction<'_>, id: i64) -> Result<(), Fault> {
    job_locks::take_of_entry(tx, id).await?;
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
    Ok(article_entries(tx, &[job_id.as_str()]).await?.remove(job_id.as_str()))
}

/// The same of several jobs, by their ids.
async fn article_entries(
    tx: &Transaction<'_>,
    ids: &[&str],
) -> Result<HashMap<String, ArticleEntry>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = tx.query(ARTICLES, &[(&ids, Type::TEXT_ARRAY)]).await?;
    let entry = |row: &tokio_postgres::Row| {
        let time = |column| Ok::<_, Fault>(row.try_get::<_, Option<i64>>(column)?.map(from_millis));
        let state = row.try_get(1).ok().and_then(State::from_name).unwrap_or(State::Corrupt);
        let entry = ArticleEntry { state, pushed_at: time(2)?, collected_at: time(3)? };
        Ok((row.try_get(0)?, entry))
    };
    found.iter().map(entry).collect()
}

/// Tells the ledger that an entry may be in another state.
pub(in super::super) async fn sync_with_entry(
    tx: &Transaction<'_>,
    entry: &StoredRow,
) -> Result<(), Fault> {
    let job_id = &entry.key.job_id;
    if !entry.key.is_article() {
        return Ok(());
    }
    let Some(mut job) = lock(tx, job_id).await? else { return Ok(()) };
    let Some(entry) = article_entry(tx, job_id).await? else { return Ok(()) };
    let before = job.row.clone();
    job.row.sync_with_entry(entry.state, entry.source(), tx.now().await?);
    save(tx, &job, &before).await
}

/// Retention removes entries. What is known of their jobs stays.
pub(in super::super) async fn add_pruned(
    tx: &Transaction<'_>,
    entries: &[StoredRow],
) -> Result<(), Fault> {
    let has_name = |entry: &&StoredRow| entry.key.is_article() && entry.damage != Some(JOB_ID);
    let articles: BTreeMap<_, _> =
        entries.iter().filter(has_name).map(|entry| (entry.key.job_id.as_str(), entry)).collect();
    if articles.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = articles.keys().copied().collect();
    let known = tx.query(KNOWN, &[(&ids, Type::TEXT_ARRAY)]).await?;
    let known: HashSet<&str> = known.iter().flat_map(|row| row.try_get(0)).collect();
    let ids: Vec<_> = ids.into_iter().filter(|id| !known.contains(id)).collect();
    let found = article_entries(tx, &ids).await?;
    let mut rows = Vec::new();
    for id in ids {
        let (job_id, at) = (&articles[id].key.job_id, articles[id].row.at);
        let row = found.get(id).and_then(|article| JobRow::of_pruned(job_id, article, at));
        rows.extend(row.map(|row| (job_id, row)));
    }
    let rows: Vec<_> = rows.iter().map(|(job_id, row)| (*job_id, row)).collect();
    rows::add_jobs(tx, &rows).await
}

/// Expects jobs, as [`Ledger::expect`](article_webhook_inbox::store::Ledger::expect) says. Deliveries of these jobs wait meanwhile, so
/// that it takes as many round trips for all as for one.
pub(crate) fn expect<'t>(tx: &'t Transaction<'t>, jobs: &'t [Expect]) -> Work<'t, Vec<JobState>> {
    Box::pin(async move {
        job_locks::take(tx, jobs.iter().map(|expect| &expect.job_id)).await?;
        expect_all(tx, jobs).await
    })
}

/// The same of jobs whose stripes are taken.
pub(super) async fn expect_all(
    tx: &Transaction<'_>,
    jobs: &[Expect],
) -> Result<Vec<JobState>, Fault> {
    // Two nodes that expect the same jobs take them in the same order.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|index| jobs[*index].job_id.as_str());
    let ids: Vec<_> = jobs.iter().map(|expect| expect.job_id.as_str()).collect();
    let mut known = BTreeMap::new();
    for row in tx.query(LOCK_ALL, &[(&ids, Type::TEXT_ARRAY)]).await? {
        let job = stored_job(&row)?;
        let before = job.row.clone();
        known.insert(job.job_id.as_str().to_owned(), (job, before));
    }
    intents::lock_all(tx, jobs.iter().filter_map(|expect| expect.intent.as_deref())).await?;
    let now = tx.now().await?;
    for index in &order {
        let Expect { job_id, intent, .. } = &jobs[*index];
        intents::resolve(tx, intent.as_deref(), job_id, now).await?;
    }
    let unknown: Vec<_> = ids.iter().copied().filter(|id| !known.contains_key(*id)).collect();
    let articles = article_entries(tx, &unknown).await?;

    let mut states = vec![JobState::Expected; jobs.len()];
    let mut added: BTreeMap<&str, (&JobId, JobRow)> = BTreeMap::new();
    for index in order {
        let (expect, id) = (&jobs[index], ids[index]);
        let row = match (known.get_mut(id), added.get_mut(id)) {
            (Some((StoredJob { row, .. }, _)), _) | (None, Some((_, row))) => {
                row.expect(expect, now);
                &*row
            }
            (None, None) => {
                let row = JobRow::new(expect, articles.get(id), now);
                &added.entry(id).or_insert((&expect.job_id, row)).1
            }
        };
        states[index] = row.state;
    }
    for (job, before) in known.values() {
        save(tx, job, before).await?;
    }
    let added: Vec<_> = added.values().map(|(job_id, row)| (*job_id, row)).collect();
    rows::add_jobs(tx, &added).await?;
    Ok(states)
}

/// Erases a job and the link of its intent.
pub(in super::super) async fn forget(tx: &Transaction<'_>, job_id: &JobId) -> Result<(), Fault> {
    let forget = "DELETE FROM article_inbox_jobs WHERE job_id = $1 RETURNING intent";
    let rows = tx.query(forget, &[(&job_id.as_str(), Type::TEXT)]).await?;
    let intent = rows.first().and_then(|row| row.try_get(0).unwrap_or_default());
    intents::forget(tx, job_id, intent).await
}
