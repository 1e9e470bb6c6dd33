use std::time::SystemTime;

use rusqlite::{Connection, types::ValueRef};

use super::{
    checksum::checksum,
    value::{
        Damaged, columns, count_in, execute, integer_in, optional_integer_in, optional_text,
        optional_text_in, verify,
    },
};
use crate::{
    call::{Pause, PauseReason},
    rules::Bucket,
    store::sqlite::{fault::Fault, statements::sql::ledger as sql},
    timestamp::{from_millis, to_millis},
};

/// How many columns are in the checksum.
const COLUMNS: usize = 11;

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
        optional(bucket.pause.map(|pause| pause.since)),
        optional(bucket.pause.map(|pause| pause.until)),
        optional_text(bucket.pause.map(|pause| pause.why.as_str())),
        ValueRef::Integer(bucket.refusals.into()),
        optional(bucket.refused_at),
        ValueRef::Integer(bucket.key.cast_signed()),
        ValueRef::Integer(bucket.turn.into()),
    ];
    let checksum = ValueRef::Integer(checksum(columns));
    execute(tx, sql::SAVE_BUCKET, columns.into_iter().chain([checksum]))
}

fn sound(columns: &Columns<'_>) -> Result<Bucket, Damaged> {
    let [used, refilled_at, share, shared_at, since, until, why, refusals, refused_at, key, turn] =
        *columns;
    let time = |value, column| optional_integer_in(value, column).map(|at| at.map(from_millis));
    let (since, until) = (time(since, "paused_since")?, time(until, "paused_until")?);
    let pause = match (since, until, optional_text_in(why, "pause")?) {
        (None, None, None) => None,
        (Some(since), Some(until), Some(why)) => {
            Some(Pause { since, until, why: PauseReason::from_name(why).ok_or("pause")? })
        }
        _ => return Err("pause"),
    };
    Ok(Bucket {
        used: integer_in(used, "used")?,
        refilled_at: from_millis(integer_in(refilled_at, "refilled_at")?),
        share: u16::try_from(integer_in(share, "share")?).map_err(|_| "share")?,
        shared_at: from_millis(integer_in(shared_at, "shared_at")?),
        pause,
        refusals: count_in(refusals, "refusals")?,
        refused_at: time(refused_at, "refused_at")?,
        key: integer_in(key, "key")?.cast_unsigned(),
        turn: u8::try_from(integer_in(turn, "turn")?).map_err(|_| "turn")?,
    })
}
