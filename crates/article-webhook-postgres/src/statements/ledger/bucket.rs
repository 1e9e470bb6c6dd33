use std::time::SystemTime;

use article_webhook_inbox::store::{Bucket, BucketEvent};
use tokio_postgres::types::Type;

use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

const LOAD: &str = "SELECT value FROM article_inbox_bucket WHERE id = 1";
const LOCK: &str = "SELECT value FROM article_inbox_bucket WHERE id = 1 FOR UPDATE";
const SAVE: &str = "UPDATE article_inbox_bucket SET value = $1 WHERE id = 1";

/// The bucket. A damaged one is a bucket without tokens until it is changed.
pub(super) async fn load(tx: &Transaction<'_>) -> Result<Bucket, Fault> {
    Ok(stored(tx, LOAD).await?.unwrap_or_else(Bucket::empty))
}

/// What a check says of a damaged bucket.
pub(in super::super) async fn damage_of_bucket(
    tx: &Transaction<'_>,
) -> Result<Option<String>, Fault> {
    let says = "the bucket of asks is damaged: it begins anew without tokens, with the next ask";
    Ok(stored(tx, LOAD).await?.is_none().then(|| says.to_owned()))
}

/// The bucket, unless it is damaged. Before its first use, it is full.
async fn stored(tx: &Transaction<'_>, statement: &str) -> Result<Option<Bucket>, Fault> {
    let rows = tx.query(statement, &[]).await?;
    let value: Option<&str> = first(&rows)?.try_get(0)?;
    Ok(value.map_or(Some(Bucket::new()), Bucket::from_json))
}

/// Changes the bucket, and saves it if it is another one now, or was damaged. Others wait until the transaction ends.
pub(super) async fn change<T>(
    tx: &Transaction<'_>,
    change: impl FnOnce(&mut Bucket, SystemTime) -> T,
) -> Result<T, Fault> {
    let before = stored(tx, LOCK).await?;
    let now = tx.now().await?;
    let mut bucket = before.unwrap_or_else(Bucket::empty);
    let changed = change(&mut bucket, now);
    if before != Some(bucket) {
        tx.write_row(SAVE, &[(&bucket.to_json(), Type::TEXT)]).await?;
    }
    Ok(changed)
}

/// Stores what happened to the bucket.
pub(crate) fn report<'t>(tx: &'t Transaction<'t>, event: &'t BucketEvent) -> Work<'t, ()> {
    Box::pin(change(tx, |bucket, now| bucket.report(*event, now)))
}

/// Takes over a bucket that another store exported.
pub(crate) fn import_bucket<'t>(tx: &'t Transaction<'t>, other: &'t Bucket) -> Work<'t, ()> {
    Box::pin(change(tx, |bucket, now| bucket.import(other, now)))
}
