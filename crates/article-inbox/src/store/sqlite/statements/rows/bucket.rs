use std::time::SystemTime;

use rusqlite::{Connection, types::ValueRef};

use super::{
    checksum::checksum,
    value::{Damaged, columns, count_in, execute, integer_in, optional_integer_in, verify},
};
use crate::{
    call::{Pause, PauseReason},
    rules::Bucket,
    store::sqlite::{fault::Fault, statements::sql::ledger as sql},
    timestamp::{from_millis, to_millis},
};

/// How many columns are in the checksum.
const COLUMNS: usize = 13;

type Columns<'a> = [ValueRef<'a>; COLUMNS];

/// The bucket as it is stored, or the damage of its row. `None` before its first use.
pub(in super::super) fn read_bucket(
    tx: &Connection,
) -> Result<Option<Result<Bucket, &'static str>>, Fault> {
    let mut statement = tx.prepare_cached(sql::LOAD_BUCKET)?;
    let mut found = statement.query([])?;
    let Some(row) = found.next()? else { return Ok(None) };
    let (columns, checksum) = (columns(row)?, row.get_ref(COLUMNS)?);
    Ok(Some(sound(&columns).and_then(|bucket| verify(columns, checksum).map(|()| bucket))))
}

/// Writes the bucket.
pub(in super::super) fn save_bucket(tx: &Connection, bucket: &Bucket) -> Result<(), Fault> {
    let time = |time| ValueRef::Integer(to_millis(time));
    let optional = |at: Option<SystemTime>| at.map_or(ValueRef::Null, time);
    let columns: Columns<'_> = [
        ValueRef::Integer(bucket.used),
        time(bucket.refilled_at),
        ValueRef::Integer(bucket.share.into()),
        time(bucket.shared_at),
        optional(bucket.limited.map(|pause| pause.since)),
        optional(bucket.limited.map(|pause| pause.until)),
        optional(bucket.refused.map(|pause| pause.since)),
        optional(bucket.refused.map(|pause| pause.until)),
        ValueRef::Integer(bucket.refusals.into()),
        optional(bucket.refused_at),
        ValueRef::Integer(bucket.key.cast_signed()),
        ValueRef::Integer(bucket.turn.into()),
        ValueRef::Integer(bucket.orders.into()),
    ];
    let checksum = ValueRef::Integer(checksum(columns));
    execute(tx, sql::SAVE_BUCKET, columns.into_iter().chain([checksum]))
}

fn sound(columns: &Columns<'_>) -> Result<Bucket, Damaged> {
    let [
        used,
        refilled_at,
        share,
        shared_at,
        limited_since,
        limited_until,
        refused_since,
        refused_until,
        refusals,
        refused_at,
        key,
        turn,
        orders,
    ] = *columns;
    Ok(Bucket {
        used: integer_in(used, "used")?,
        refilled_at: from_millis(integer_in(refilled_at, "refilled_at")?),
        share: u16::try_from(integer_in(share, "share")?).map_err(|_| "share")?,
        shared_at: from_millis(integer_in(shared_at, "shared_at")?),
        limited: pause_in(limited_since, limited_until, PauseReason::RateLimited)?,
        refused: pause_in(refused_since, refused_until, PauseReason::KeyRefused)?,
        refusals: count_in(refusals, "refusals")?,
        refused_at: optional_integer_in(refused_at, "refused_at")?.map(from_millis),
        key: integer_in(key, "key")?.cast_unsigned(),
        turn: u8::try_from(integer_in(turn, "turn")?).map_err(|_| "turn")?,
        orders: u8::try_from(integer_in(orders, "orders")?).map_err(|_| "orders")?,
    })
}

fn pause_in(
    since: ValueRef<'_>,
    until: ValueRef<'_>,
    why: PauseReason,
) -> Result<Option<Pause>, Damaged> {
    let time = |value| optional_integer_in(value, "pause").map(|at| at.map(from_millis));
    match (time(since)?, time(until)?) {
        (None, None) => Ok(None),
        (Some(since), Some(until)) => Ok(Some(Pause { since, until, why })),
        _ => Err("pause"),
    }
}
