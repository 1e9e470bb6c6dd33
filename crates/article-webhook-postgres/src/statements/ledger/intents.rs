use std::time::SystemTime;

use article_webhook::JobId;
use tokio_postgres::types::Type;

use super::rows::{self, StoredIntent, stored_intent};
use crate::{connection::Transaction, fault::Fault};

const LOCK_NAME: &str =
    concat!("SELECT ", rows::intent!(), " FROM article_inbox_intents WHERE name = $1 FOR UPDATE");
const LOCK_ALL: &str =
    "SELECT FROM article_inbox_intents WHERE name = ANY($1) ORDER BY name FOR UPDATE";
const LOCK_ID: &str =
    concat!("SELECT ", rows::intent!(), " FROM article_inbox_intents WHERE id = $1 FOR UPDATE");

/// The intents that [`IntentRow::may_have_ordered`](article_webhook_inbox::store::IntentRow::may_have_ordered) accepts, and must agree with it.
const OF_JOB: &str = concat!(
    "SELECT ",
    rows::intent!(),
    " FROM article_inbox_intents WHERE job_id = $1 OR name = $2 \
     OR ($2 IS NULL AND state IN ('ordering', 'abandoned')) ORDER BY name FOR UPDATE"
);

/// Finds an intent by its name, and keeps others from changing it.
pub(super) async fn lock(tx: &Transaction<'_>, name: &str) -> Result<Option<StoredIntent>, Fault> {
    let rows = tx.query(LOCK_NAME, &[(&name, Type::TEXT)]).await?;
    rows.first().map(stored_intent).transpose()
}

/// Keeps others from changing these intents.
pub(super) async fn lock_all(
    tx: &Transaction<'_>,
    names: impl Iterator<Item = &str>,
) -> Result<(), Fault> {
    let names: Vec<_> = names.collect();
    if !names.is_empty() {
        tx.query(LOCK_ALL, &[(&names, Type::TEXT_ARRAY)]).await?;
    }
    Ok(())
}

/// Loads an intent by its id, and keeps others from changing it.
pub(super) async fn lock_id(tx: &Transaction<'_>, id: i64) -> Result<Option<StoredIntent>, Fault> {
    let rows = tx.query(LOCK_ID, &[(&id, Type::INT8)]).await?;
    rows.first().map(stored_intent).transpose()
}

pub(super) async fn remove(tx: &Transaction<'_>, id: i64) -> Result<(), Fault> {
    tx.execute("DELETE FROM article_inbox_intents WHERE id = $1", &[(&id, Type::INT8)]).await?;
    Ok(())
}

/// The intent became this job, unless its job is known. `false` if there is no such intent.
pub(super) async fn resolve(
    tx: &Transaction<'_>,
    intent: Option<&str>,
    job_id: &JobId,
    now: SystemTime,
) -> Result<bool, Fault> {
    let Some(name) = intent else { return Ok(false) };
    let Some(mut stored) = lock(tx, name).await? else { return Ok(false) };
    if stored.row.resolve(job_id, now) {
        rows::save_intent(tx, &stored).await?;
    }
    Ok(true)
}

/// Erases the link of each intent to a job, which has this intent. No answer to an order brings the job back.
pub(super) async fn forget(
    tx: &Transaction<'_>,
    job_id: &JobId,
    intent: Option<&str>,
) -> Result<(), Fault> {
    let parameters = [(&job_id.as_str() as _, Type::TEXT), (&intent as _, Type::TEXT)];
    for found in tx.query(OF_JOB, &parameters).await? {
        let mut stored = stored_intent(&found)?;
        if stored.row.may_have_ordered(&stored.name, job_id, intent) {
            stored.row.forget(job_id);
            rows::save_intent(tx, &stored).await?;
        }
    }
    Ok(())
}
