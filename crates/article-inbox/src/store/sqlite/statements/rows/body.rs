use rusqlite::{Connection, Row as SqlRow, types::ValueRef};

use super::{
    checksum::checksum,
    value::{copied, damaged, digest, execute, optional_text, text, text_in, verify},
};
use crate::{
    Body, Source,
    store::sqlite::{fault::Fault, statements::sql},
    timestamp::{from_millis, to_millis},
};

/// Slots for bodies per entry: more than [`MAX_BODIES`](crate::MAX_BODIES).
pub(in super::super) const SLOTS: i64 = 16;

/// How many columns are in the checksum. The bytes have a digest.
const COLUMNS: usize = 6;

/// Which of them is the intent.
const INTENT: usize = 4;

/// The bodies of an entry, in the order of their arrival.
pub(in super::super) fn bodies(tx: &Connection, id: i64) -> Result<Vec<Body>, Fault> {
    let mut statement = tx.prepare_cached(sql::BODIES)?;
    let bodies = statement.query_and_then([id], |row| body(id, row))?;
    bodies.collect()
}

fn body(id: i64, found: &SqlRow<'_>) -> Result<Body, Fault> {
    verify(found, id, COLUMNS)?;
    Ok(Body {
        received_at: from_millis(found.get(1)?),
        source: Source::from_name(text_in(found, 2)?).ok_or_else(|| damaged(id, "source"))?,
        target: text_in(found, 3)?.into(),
        intent: found.get::<_, Option<String>>(4)?.map(Into::into),
        digest: digest(found.get_ref(5)?).ok_or_else(|| damaged(id, "digest"))?,
        bytes: copied(found.get_ref(COLUMNS + 1)?),
    })
}

/// Writes a body into a slot, over the one that is there.
pub(in super::super) fn put_body(tx: &Connection, slot: i64, body: &Body) -> Result<(), Fault> {
    let columns: [_; COLUMNS] = [
        ValueRef::Integer(slot),
        ValueRef::Integer(to_millis(body.received_at)),
        text(body.source.as_str()),
        text(&body.target),
        optional_text(body.intent.as_deref()),
        ValueRef::Blob(body.digest.as_bytes()),
    ];
    let checksum = ValueRef::Integer(checksum(columns));
    let bytes = body.bytes.as_deref().map_or(ValueRef::Null, ValueRef::Blob);
    execute(tx, sql::PUT_BODY, columns.into_iter().chain([checksum, bytes]))
}

/// Gives a body an intent. A damaged one is left as it is: the next delivery replaces it.
pub(in super::super) fn put_intent(tx: &Connection, slot: i64, intent: &str) -> Result<(), Fault> {
    let checksum = {
        let mut statement = tx.prepare_cached(sql::BODY_WITHOUT_BYTES)?;
        let mut found = statement.query([slot])?;
        let Some(row) = found.next()? else { return Ok(()) };
        let mut columns = [ValueRef::Null; COLUMNS];
        for (number, column) in columns.iter_mut().enumerate() {
            *column = row.get_ref(number)?;
        }
        match row.get_ref(COLUMNS)? {
            ValueRef::Integer(expected) if checksum(columns) != expected => return Ok(()),
            _ => columns[INTENT] = text(intent),
        }
        ValueRef::Integer(checksum(columns))
    };
    execute(tx, sql::PUT_INTENT, [ValueRef::Integer(slot), text(intent), checksum])
}
