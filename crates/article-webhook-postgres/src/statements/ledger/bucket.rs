use article_webhook_inbox::{
    PauseReason,
    store::{Bucket, BucketEvent, Pause, RefusedKey, from_millis, to_millis},
};
use serde_json::{Value, json};
use tokio_postgres::types::Type;

use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

const LOAD: &str = "SELECT value FROM article_inbox_bucket WHERE id = 1";
const LOCK: &str = "SELECT value FROM article_inbox_bucket WHERE id = 1 FOR UPDATE";
const SAVE: &str = "UPDATE article_inbox_bucket SET value = $1 WHERE id = 1";

/// The bucket, if it was used before. A damaged one begins anew.
pub(super) async fn load(tx: &Transaction<'_>) -> Result<Option<Bucket>, Fault> {
    read(tx, LOAD).await
}

/// What a check says of a damaged bucket.
pub(in super::super) async fn damage_of_bucket(
    tx: &Transaction<'_>,
) -> Result<Option<String>, Fault> {
    let rows = tx.query(LOAD, &[]).await?;
    let value: Option<&str> = first(&rows)?.try_get(0)?;
    let is_damaged = value.is_some_and(|value| bucket_in(value).is_none());
    Ok(is_damaged
        .then(|| "the bucket of asks is damaged: it begins anew with the next ask".to_owned()))
}

async fn read(tx: &Transaction<'_>, statement: &str) -> Result<Option<Bucket>, Fault> {
    let rows = tx.query(statement, &[]).await?;
    let value: Option<&str> = first(&rows)?.try_get(0)?;
    Ok(value.and_then(bucket_in))
}

/// Changes the bucket, and saves it if it was not used before or is another one now. Others wait until the transaction
/// ends.
pub(super) async fn change<T>(
    tx: &Transaction<'_>,
    change: impl FnOnce(&mut Bucket, std::time::SystemTime) -> T,
) -> Result<T, Fault> {
    let before = read(tx, LOCK).await?;
    let now = tx.now().await?;
    let mut bucket = before.clone().unwrap_or_else(|| Bucket::new(now));
    let changed = change(&mut bucket, now);
    if before.as_ref() != Some(&bucket) {
        tx.write_row(SAVE, &[(&text(&bucket), Type::TEXT)]).await?;
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

fn text(bucket: &Bucket) -> String {
    let Bucket {
        used,
        refilled_at,
        share,
        shared_at,
        limited,
        refused,
        refused_at,
        key,
        turn,
        orders,
    } = bucket;
    let refused = refused.iter().map(|refused| {
        json!([refused.key, refused.refusals, to_millis(refused.since), to_millis(refused.until)])
    });
    let value = json!({
        "used": used,
        "refilled_at": to_millis(*refilled_at),
        "share": share,
        "shared_at": to_millis(*shared_at),
        "limited": limited.map(|pause| {
            json!([to_millis(pause.since), to_millis(pause.until), pause.why.as_str()])
        }),
        "refused": Value::from_iter(refused),
        "refused_at": refused_at.map(to_millis),
        "key": key,
        "turn": turn,
        "orders": orders,
    });
    value.to_string()
}

fn bucket_in(text: &str) -> Option<Bucket> {
    let value: Value = serde_json::from_str(text).ok()?;
    let time = |value: &Value| value.as_i64().map(from_millis);
    let limited = match &value["limited"] {
        Value::Null => None,
        limited => Some(Pause {
            since: time(&limited[0])?,
            until: time(&limited[1])?,
            why: PauseReason::from_name(limited[2].as_str()?)?,
        }),
    };
    let refused = |refused: &Value| {
        Some(RefusedKey {
            key: refused[0].as_u64()?,
            refusals: refused[1].as_u64()?.try_into().ok()?,
            since: time(&refused[2])?,
            until: time(&refused[3])?,
        })
    };
    Some(Bucket {
        used: value["used"].as_i64()?,
        refilled_at: time(&value["refilled_at"])?,
        share: value["share"].as_u64()?.try_into().ok()?,
        shared_at: time(&value["shared_at"])?,
        limited,
        refused: value["refused"].as_array()?.iter().map(refused).collect::<Option<_>>()?,
        refused_at: time(&value["refused_at"]),
        key: value["key"].as_u64()?,
        turn: value["turn"].as_u64()?.try_into().ok()?,
        orders: value["orders"].as_u64()?.try_into().ok()?,
    })
}
