use std::{collections::HashMap, time::SystemTime};

use article_webhook_inbox::{
    Body, Digest, Source,
    store::{Arrival, KnownBody, from_millis, to_millis},
};
use bytes::Bytes;
use tokio_postgres::types::Type;

use super::super::sql;
use crate::{connection::Transaction, fault::Fault};

/// A stored body, as far as the rule about a new one needs to know it.
#[derive(Clone)]
pub(crate) struct KnownIn {
    pub(crate) slot: i16,
    pub(crate) known: KnownBody,
    pub(crate) intent: Option<Box<str>>,
}

/// The body of an arrival, as it is stored now.
pub(crate) fn new_body(arrival: &Arrival, now: SystemTime) -> Body {
    Body {
        received_at: now,
        source: arrival.source,
        target: arrival.target.clone(),
        intent: arrival.intent.clone(),
        digest: arrival.digest,
        bytes: Some(arrival.bytes.clone()),
    }
}

/// What is known of the bodies of entries, in their order.
pub(crate) async fn known_bodies(
    tx: &Transaction<'_>,
    ids: &[i64],
) -> Result<HashMap<i64, Vec<KnownIn>>, Fault> {
    let mut bodies: HashMap<i64, Vec<KnownIn>> = HashMap::new();
    if ids.is_empty() {
        return Ok(bodies);
    }
    for row in tx.query(sql::KNOWN_BODIES, &[(&ids, Type::INT8_ARRAY)]).await? {
        // One that is damaged is not known, so that the next copy brings it again.
        let intent: Option<&str> = row.try_get(2).unwrap_or_default();
        let (digest, source) = (digest(row.try_get(1)?), source(row.try_get(3).ok()));
        let known = KnownBody { digest, source, has_intent: intent.is_some() };
        let body = KnownIn { slot: row.try_get(0)?, known, intent: intent.map(Into::into) };
        bodies.entry(row.try_get(4)?).or_default().push(body);
    }
    Ok(bodies)
}

/// The bodies of entries, in the order of their arrival.
pub(crate) async fn bodies(
    tx: &Transaction<'_>,
    ids: &[i64],
) -> Result<HashMap<i64, Vec<Body>>, Fault> {
    let mut bodies: HashMap<i64, Vec<Body>> = HashMap::new();
    if ids.is_empty() {
        return Ok(bodies);
    }
    for row in tx.query(sql::BODIES, &[(&ids, Type::INT8_ARRAY)]).await? {
        bodies.entry(row.try_get(0)?).or_default().push(body(&row, 1)?);
    }
    Ok(bodies)
}

/// The body in the columns from this one on, in the order of `sql::BODIES`. One whose target or intent is no text has the digest
/// of a damaged one: what would handle it for another target or order finds it corrupt.
pub(crate) fn body(row: &tokio_postgres::Row, first: usize) -> Result<Body, Fault> {
    let (target, intent) = (row.try_get::<_, &str>(first + 2), row.try_get(first + 3));
    let is_damaged = target.is_err() || intent.is_err();
    let intent: Option<&str> = intent.unwrap_or_default();
    let bytes: Option<&[u8]> = row.try_get(first + 5)?;
    Ok(Body {
        received_at: from_millis(row.try_get(first)?),
        source: source(row.try_get(first + 1).ok()),
        target: target.unwrap_or_default().into(),
        intent: intent.map(Into::into),
        digest: digest(if is_damaged { &[] } else { row.try_get(first + 4)? }),
        bytes: bytes.map(Bytes::copy_from_slice),
    })
}

/// Writes a body into a slot, over the one that is there.
pub(crate) async fn put_body(
    tx: &Transaction<'_>,
    id: i64,
    slot: i16,
    body: &Body,
) -> Result<(), Fault> {
    let (received_at, source) = (to_millis(body.received_at), body.source.as_str());
    let digest = &body.digest.as_bytes()[..];
    let bytes = body.bytes.as_deref();
    let parameters = [
        (&id as _, Type::INT8),
        (&slot as _, Type::INT2),
        (&received_at as _, Type::INT8),
        (&source as _, Type::TEXT),
        (&body.target as _, Type::TEXT),
        (&body.intent as _, Type::TEXT),
        (&digest as _, Type::BYTEA),
        (&bytes as _, Type::BYTEA),
    ];
    tx.write_row(sql::PUT_BODY, &parameters).await?;
    tx.execute(sql::COUNT_HELD, &[(&[id].as_slice(), Type::INT8_ARRAY)]).await?;
    Ok(())
}

/// Gives a body an intent.
pub(crate) async fn put_intent(
    tx: &Transaction<'_>,
    id: i64,
    slot: i16,
    intent: Option<&str>,
) -> Result<(), Fault> {
    let parameters = [(&id as _, Type::INT8), (&slot as _, Type::INT2), (&intent as _, Type::TEXT)];
    tx.write_row(sql::PUT_INTENT, &parameters).await
}

/// A body is taken for a delivered one unless it is known to come from the API.
fn source(name: Option<&str>) -> Source {
    name.and_then(Source::from_name).unwrap_or(Source::Webhook)
}

/// No body has the digest of a damaged one.
fn digest(bytes: &[u8]) -> Digest {
    Digest::from(<[u8; 32]>::try_from(bytes).unwrap_or_default())
}
