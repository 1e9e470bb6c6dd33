use bytes::Bytes;
use rusqlite::{Connection, Row as SqlRow, types::ValueRef};

use super::{
    checksum::checksum,
    value::{
        Damaged, bytes_in, cause, columns, digest, execute, integer_in, lossy, optional_text,
        optional_text_in, text, text_in, verify,
    },
};
use crate::{
    Body, Digest, Excerpt, Source,
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
        statements::sql,
    },
    timestamp::{from_millis, to_millis},
};

/// Slots for bodies per entry: more than [`MAX_BODIES`](crate::MAX_BODIES).
pub(in super::super) const SLOTS: i64 = 16;

/// How many columns are in the checksum. The bytes have a digest.
const COLUMNS: usize = 6;

/// Which of them is the intent.
const INTENT: usize = 4;

type Columns<'a> = [ValueRef<'a>; COLUMNS];

/// A body as it is stored, and what is wrong with its row.
pub(in super::super) struct StoredBody {
    pub(in super::super) slot: i64,
    /// A damaged one has a digest that no bytes have, so that it is never intact, unless its bytes have the digest in its
    /// row: then the damage is elsewhere in the row.
    pub(in super::super) body: Body,
    pub(in super::super) damage: Option<String>,
}

/// The bodies of an entry, in the order of their arrival.
pub(in super::super) fn bodies(tx: &Connection, id: i64) -> Result<Vec<StoredBody>, Fault> {
    let mut statement = tx.prepare_cached(sql::BODIES)?;
    let bodies = statement.query_and_then([id], stored_body)?;
    bodies.collect()
}

/// The body in the columns of `sql::body!` and the bytes after them.
pub(in super::super) fn stored_body(found: &SqlRow<'_>) -> Result<StoredBody, Fault> {
    let columns: Columns<'_> = columns(found)?;
    let (checksum, bytes) = (found.get_ref(COLUMNS)?, found.get_ref(COLUMNS + 1)?);
    let sound = sound(&columns, bytes).and_then(|body| verify(columns, checksum).map(|()| body));
    let slot = found.get(0)?;
    Ok(match sound {
        Ok(body) => StoredBody { slot, body, damage: None },
        Err(damaged) => {
            StoredBody { slot, body: readable(&columns, bytes), damage: Some(cause(damaged)) }
        }
    })
}

/// The beginning of the first body of an entry. `None` if there is none, or if its row is damaged.
pub(in super::super) fn excerpt(
    tx: &Connection,
    id: i64,
    bytes: usize,
) -> Result<Option<Excerpt>, Fault> {
    let mut statement = tx.prepare_cached(sql::EXCERPT)?;
    let parameters = [bytes, Excerpt::MAX_LENGTH].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let mut found = statement.query([id, parameters[0], parameters[1]])?;
    let Some(row) = found.next()? else { return Ok(None) };
    let columns: Columns<'_> = columns(row)?;
    let is_sound = verify(columns, row.get_ref(COLUMNS)?);
    let Ok(body) = is_sound.and_then(|()| sound(&columns, ValueRef::Null)) else {
        return Ok(None);
    };
    let length = match row.get_ref(COLUMNS + 1)? {
        ValueRef::Integer(length) => Some(length.unsigned_abs()),
        _ => None,
    };
    let start = row.get_ref(COLUMNS + 2)?.as_blob_or_null().ok().flatten().unwrap_or_default();
    Ok(Some(Excerpt { source: body.source, length, start: Bytes::copy_from_slice(start) }))
}

/// The slot, and whether [`stored_body`] has no damage. What is in a row whose checksum matches is not looked at.
pub(in super::super) fn slot_and_soundness(found: &SqlRow<'_>) -> Result<(i64, bool), Fault> {
    let columns: Columns<'_> = columns(found)?;
    let (checksum, bytes) = (found.get_ref(COLUMNS)?, found.get_ref(COLUMNS + 1)?);
    let is_sound = match checksum {
        ValueRef::Null => sound(&columns, bytes).is_ok(),
        checksum => bytes.as_blob_or_null().is_ok() && verify(columns, checksum).is_ok(),
    };
    Ok((found.get(0)?, is_sound))
}

fn sound(columns: &Columns<'_>, bytes: ValueRef<'_>) -> Result<Body, Damaged> {
    let [_, received_at, source, target, intent, digest] = *columns;
    Ok(Body {
        received_at: from_millis(integer_in(received_at, "received_at")?),
        source: Source::from_name(text_in(source, "source")?).ok_or("source")?,
        target: text_in(target, "target")?.into(),
        intent: optional_text_in(intent, "intent")?.map(Into::into),
        digest: self::digest(digest).ok_or("digest")?,
        bytes: bytes_in(bytes, "body")?,
    })
}

/// As much of a damaged body as can be read.
fn readable(columns: &Columns<'_>, bytes: ValueRef<'_>) -> Body {
    let [_, received_at, source, target, intent, digest] = *columns;
    let bytes = bytes_in(bytes, "body").unwrap_or_default();
    let digest = self::digest(digest).zip(bytes.as_ref());
    let digest = digest.filter(|(digest, bytes)| Digest::of(bytes) == *digest);
    let source = text_in(source, "source").ok().and_then(Source::from_name);
    Body {
        received_at: from_millis(integer_in(received_at, "received_at").unwrap_or_default()),
        source: source.unwrap_or(Source::Webhook),
        target: lossy(target).unwrap_or_default().into(),
        intent: lossy(intent).map(Into::into),
        digest: digest.map_or(Digest::from([0; 32]), |(digest, _)| digest),
        bytes,
    }
}

/// Writes a body into a slot, over the one that is there.
pub(in super::super) fn put_body(tx: &Connection, slot: i64, body: &Body) -> Result<(), Fault> {
    let columns: Columns<'_> = [
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

/// The bodies of an entry, or the cause if none that has bytes is sound.
///
/// Damaged ones are told and written back with values of the right types, so that no statement fails because of them.
/// One whose bytes are what was received is sound from then on. The others have the digest of no bytes: they stay damaged.
pub(in super::super) fn sound_bodies(
    tx: &Tx<'_>,
    id: i64,
) -> Result<Result<Vec<Body>, String>, Fault> {
    let stored = bodies(tx, id)?;
    let mut cause = None;
    for (number, stored) in stored.iter().enumerate() {
        let Some(damage) = &stored.damage else { continue };
        put_body(tx, stored.slot, &stored.body)?;
        let damage = format!("body {}: {damage}", number + 1);
        if is_kept(&stored.body) {
            let kept = "its bytes are what was received, and its row was written anew";
            tx.found(Part::Body, format!("entry {id}, {damage}; {kept}"));
            continue;
        }
        tx.found(Part::Body, format!("entry {id}, {damage}; deliver or collect the job again"));
        cause.get_or_insert(damage);
    }
    let is_sound = |stored: &StoredBody| match stored.damage {
        Some(_) => is_kept(&stored.body),
        None => stored.body.bytes.is_some(),
    };
    let is_missing = cause.is_none() && !stored.iter().any(is_sound) && has_held(tx, id)?;
    if is_missing {
        let missing = "its body is missing";
        tx.found(Part::Body, format!("entry {id}: {missing}; deliver or collect the job again"));
        cause = Some(missing.to_owned());
    }
    Ok(match cause {
        Some(cause) if !stored.iter().any(is_sound) => Err(cause),
        _ => Ok(stored.into_iter().map(|stored| stored.body).collect()),
    })
}

/// Whether the entry had a body with bytes when it was last counted.
fn has_held(tx: &Connection, id: i64) -> Result<bool, Fault> {
    Ok(tx.prepare_cached(sql::HAS_HELD)?.exists([id])?)
}

/// Whether a body of a damaged row has the bytes that were received.
fn is_kept(body: &Body) -> bool {
    body.bytes.is_some() && body.is_intact()
}

/// Gives a body an intent. A damaged one is left as it is: the next delivery replaces it.
pub(in super::super) fn put_intent(tx: &Connection, slot: i64, intent: &str) -> Result<(), Fault> {
    let checksum = {
        let mut statement = tx.prepare_cached(sql::BODY_WITHOUT_BYTES)?;
        let mut found = statement.query([slot])?;
        let Some(row) = found.next()? else { return Ok(()) };
        let mut columns: Columns<'_> = columns(row)?;
        if verify(columns, row.get_ref(COLUMNS)?).is_err() {
            return Ok(());
        }
        columns[INTENT] = text(intent);
        ValueRef::Integer(checksum(columns))
    };
    execute(tx, sql::PUT_INTENT, [ValueRef::Integer(slot), text(intent), checksum])
}
