use std::time::SystemTime;

use rusqlite::{Connection, types::ValueRef};

use super::{
    checksum::checksum,
    value::{
        Damaged, columns, execute, integer_in, optional_integer_in, optional_text,
        optional_text_in, verify,
    },
};
use crate::{
    call::{Pause, PauseReason},
    rules::{Bucket, RefusedKey},
    store::sqlite::{fault::Fault, statements::sql::ledger as sql},
    timestamp::{from_millis, to_millis},
};

/// How many columns are in the checksum.
const COLUMNS: usize = 12;

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
    let refused: Vec<u8> = bucket.refused.iter().flat_map(refused_bytes).collect();
    let columns: Columns<'_> = [
        ValueRef::Integer(bucket.used),
        time(bucket.refilled_at),
        ValueRef::Integer(bucket.share.into()),
        time(bucket.shared_at),
        optional(bucket.limited.map(|pause| pause.since)),
        optional(bucket.limited.map(|pause| pause.until)),
        optional_text(bucket.limited.map(|pause| pause.why.as_str())),
        ValueRef::Blob(&refused),
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
        limited_why,
        refused,
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
        limited: limited_in(limited_since, limited_until, limited_why)?,
        refused: refused_in(refused)?,
        refused_at: optional_integer_in(refused_at, "refused_at")?.map(from_millis),
        key: integer_in(key, "key")?.cast_unsigned(),
        turn: u8::try_from(integer_in(turn, "turn")?).map_err(|_| "turn")?,
        orders: u8::try_from(integer_in(orders, "orders")?).map_err(|_| "orders")?,
    })
}

fn limited_in(
    since: ValueRef<'_>,
    until: ValueRef<'_>,
    why: ValueRef<'_>,
) -> Result<Option<Pause>, Damaged> {
    let time = |value| optional_integer_in(value, "pause").map(|at| at.map(from_millis));
    match (time(since)?, time(until)?, optional_text_in(why, "pause")?) {
        (None, None, None) => Ok(None),
        (Some(since), Some(until), Some(why)) => {
            let why = PauseReason::from_name(why).ok_or("pause")?;
            Ok(Some(Pause { since, until, why }))
        }
        _ => Err("pause"),
    }
}

/// The key, its refusals, and the beginning and the end of its pause: 8 bytes each, the highest first.
fn refused_bytes(refused: &RefusedKey) -> impl Iterator<Item = u8> {
    let [since, until] = [refused.since, refused.until].map(|at| to_millis(at).cast_unsigned());
    [refused.key, refused.refusals.into(), since, until].into_iter().flat_map(u64::to_be_bytes)
}

fn refused_in(value: ValueRef<'_>) -> Result<Vec<RefusedKey>, Damaged> {
    let ValueRef::Blob(bytes) = value else { return Err("refused") };
    let (numbers, []) = bytes.as_chunks::<8>() else { return Err("refused") };
    let (keys, []) = numbers.as_chunks::<4>() else { return Err("refused") };
    let key = |numbers: &[[u8; 8]; 4]| {
        let [key, refusals, since, until] = numbers.map(u64::from_be_bytes);
        let refusals = u32::try_from(refusals).map_err(|_| "refused")?;
        let [since, until] = [since, until].map(|at| from_millis(at.cast_signed()));
        Ok(RefusedKey { key, refusals, since, until })
    };
    keys.iter().map(key).collect()
}
