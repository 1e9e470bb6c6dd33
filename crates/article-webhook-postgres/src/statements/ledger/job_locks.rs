//! Locks of jobs that may have no row. Who adds a job looks for its article, and who stores an article looks for its job. Neither
//! sees what the other has not committed, so that the job would stay open although its article is there. The lock makes one
//! of them wait. It is not of a job but of one of 64 stripes, so that a large batch fills no table of locks.

use article_webhook::JobId;
use article_webhook_inbox::EntryKey;
use tokio_postgres::types::Type;

use crate::{connection::Transaction, fault::Fault};

/// Locks the stripes of these jobs, in their order. The class is that of these tables, whatever their schema.
macro_rules! lock_stripes {
    ($lock:literal) => {
        concat!(
            "SELECT ",
            $lock,
            "('article_inbox_meta'::regclass::oid::int, stripe) FROM (SELECT DISTINCT hashtext(job_id) & 63 AS stripe \
             FROM unnest($1::text[]) AS job_id ORDER BY stripe) AS stripes"
        )
    };
}

/// The same of one job, which a delivery that comes alone waits for.
const SHARE_ONE: &str = "SELECT pg_advisory_xact_lock_shared('article_inbox_meta'::regclass::oid::int, hashtext($1) & 63)";
const SHARE: &str = lock_stripes!("pg_advisory_xact_lock_shared");
const TAKE: &str = lock_stripes!("pg_advisory_xact_lock");

const TAKE_OF_ENTRY: &str = "SELECT pg_advisory_xact_lock('article_inbox_meta'::regclass::oid::int, hashtext(job_id) & 63) \
    FROM article_inbox_entries WHERE id = $1 AND event = 'article.complete'";

/// Keeps others from adding the jobs of these articles, while others may store articles too. It begins the transaction, and
/// statements may be sent together with it.
pub(in super::super) async fn share(
    tx: &Transaction<'_>,
    keys: impl Iterator<Item = &EntryKey>,
) -> Result<(), Fault> {
    let ids: Vec<_> = keys.filter(|key| key.is_article()).map(|key| key.job_id.as_str()).collect();
    match &ids[..] {
        [] => {}
        [id] => drop(tx.begin_with(SHARE_ONE, &[(id, Type::TEXT)]).await?),
        ids => drop(tx.begin_with(SHARE, &[(&ids, Type::TEXT_ARRAY)]).await?),
    }
    Ok(())
}

/// Keeps others from adding these jobs or their articles.
pub(super) async fn take(
    tx: &Transaction<'_>,
    jobs: impl Iterator<Item = &JobId>,
) -> Result<(), Fault> {
    let ids: Vec<_> = jobs.map(JobId::as_str).collect();
    tx.query(TAKE, &[(&ids, Type::TEXT_ARRAY)]).await?;
    Ok(())
}

/// The same for the article of an entry.
pub(super) async fn take_of_entry(tx: &Transaction<'_>, id: i64) -> Result<(), Fault> {
    tx.query(TAKE_OF_ENTRY, &[(&id, Type::INT8)]).await?;
    Ok(())
}
