//! Entries and their bodies.

use std::{collections::HashMap, time::SystemTime};

use article_webhook::{Event, JobId};
use article_webhook_inbox::{
    State,
    store::{
        Row as EntryRow, from_millis,
        tables::{
            BodyBytes, BodyRow, Change, EntryRows, JobRows, Tracked, codec, script::LoadedBody,
        },
        to_millis,
    },
};
use bytes::Bytes;
use tokio_postgres::Row;

use super::value::{number, text, value};
use crate::{
    connection::{Blob, Statement, Transaction},
    fault::Fault,
};

/// The first columns of an entry and of a body where the rows of jobs are loaded.
const ENTRY: usize = 12;
const BODY: usize = 23;

/// Bodies with their bytes.
const BODIES: &str = "SELECT b.slot, b.received_at, b.digest, b.document, b.checksum, octet_length(b.body)::bigint, b.body, b.entry \
    FROM unnest($1::bigint[]) AS wanted (id) \
    CROSS JOIN LATERAL (SELECT * FROM article_inbox_bodies AS b WHERE b.entry = wanted.id OFFSET 0) AS b";

/// Adds the entry and the body of a row to its job.
pub(super) fn add(job: &mut JobRows, row: &Row, now: SystemTime) {
    let Some(id) = value::<i64>(row, ENTRY) else { return };
    let index = job.entries.iter().rposition(|entry| entry.row.id == id);
    let index = index.unwrap_or_else(|| {
        job.entries.push(entry(&job.job_id, id, row, now));
        job.entries.len() - 1
    });
    if let Some(slot) = value::<i16>(row, BODY) {
        let (body, _) = body(row, BODY);
        job.entries[index].bodies.push(Tracked::stored(slot.into(), body));
    }
}

/// An entry, and what is damaged of it.
fn entry(job_id: &JobId, id: i64, row: &Row, now: SystemTime) -> EntryRows {
    let event = text(row, ENTRY + 1);
    let received_at = number(row, ENTRY + 2);
    let name = text(row, ENTRY + 3);
    let known_state = State::from_name(name);
    let attempts = u32::try_from(number(row, ENTRY + 4));
    let (fence, at, lease_end, since) = (
        number(row, ENTRY + 5),
        number(row, ENTRY + 6),
        number(row, ENTRY + 7),
        number(row, ENTRY + 8),
    );
    let document = text(row, ENTRY + 9);
    let is_sound = number(row, ENTRY + 10) == checksum(job_id, event, received_at, document);
    let known = codec::row::<EntryRow>(document).filter(|_| is_sound);
    let damage = if attempts.is_err() || fence < 0 {
        Some("its number of attempts or its fence is damaged")
    } else if known.is_none() {
        Some("its checksum does not match")
    } else {
        None
    };
    let damage = damage.map(str::to_owned);
    let state = known_state.unwrap_or(State::Dead);
    let at = if state == State::Leased { lease_end } else { at };
    let mut stored = EntryRow::read(
        known,
        (state, attempts.unwrap_or(u32::MAX), fence.max(0)),
        (from_millis(at), from_millis(since)),
    );
    let mut tracked = match known_state {
        Some(_) => Tracked::stored(id, stored),
        None => {
            stored.cause = Some(format!("a newer version of the inbox stored the state {name:?}"));
            Tracked::of_newer(id, stored)
        }
    };
    // What is done stays done, whatever became of its document.
    let live = tracked.get_mut().filter(|stored| stored.state != State::Done);
    if let (Some(stored), Some(damage)) = (live, &damage) {
        stored.mark_corrupt(damage.clone(), now);
    }
    EntryRows {
        event: Event::from(event),
        received_at: from_millis(received_at),
        row: tracked,
        bodies: Vec::new(),
        damage,
    }
}

fn checksum(job_id: &JobId, event: &str, received_at: i64, document: &str) -> i64 {
    let received_at = received_at.to_le_bytes();
    codec::checksum(&[job_id.as_str().as_bytes(), event.as_bytes(), &received_at], document)
}

/// Sets entries aside whose job ids cannot be read, so that they are not due for ever. They have no name to be shown by.
pub(super) fn set_aside(tx: &mut Transaction<'_>, ids: Vec<i64>) {
    if ids.is_empty() {
        return;
    }
    for id in &ids {
        tx.add_damage("entry", format!("entry {id} is corrupt: its job id is damaged"));
    }
    let corrupt = "WITH written AS (UPDATE article_inbox_entries SET state = 'corrupt', at = $2, since = $2 \
        WHERE id = ANY($1) RETURNING 1)";
    let (now, rows) = (to_millis(tx.now()), ids.len());
    tx.write(Statement::new(corrupt).with(ids).with(now), rows);
}

/// A body, and what is damaged of it. Its columns begin at this number.
fn body(row: &Row, first: usize) -> (BodyRow, Option<String>) {
    let received_at = number(row, first + 1);
    let digest: &[u8] = value(row, first + 2).unwrap_or_default();
    let document = text(row, first + 3);
    let is_sound = number(row, first + 4) == body_checksum(received_at, digest, document);
    let known = codec::row(document).filter(|_| is_sound);
    let length = value(row, first + 5).map(i64::unsigned_abs);
    BodyRow::read(known, from_millis(received_at), digest, length)
}

fn body_checksum(received_at: i64, digest: &[u8], document: &str) -> i64 {
    codec::checksum(&[&received_at.to_le_bytes(), digest], document)
}

/// Puts bodies with their bytes together. The columns of a body begin at this number, and the id of its entry is in that one.
fn loaded_bodies(rows: &[Row], first: usize, entry: usize) -> HashMap<i64, Vec<LoadedBody>> {
    let mut bodies: HashMap<i64, Vec<(i16, LoadedBody)>> = HashMap::new();
    for row in rows {
        let Some(slot) = value(row, first) else { continue };
        let (known, damage) = body(row, first);
        let bytes = value::<&[u8]>(row, first + 6).map(Bytes::copy_from_slice);
        let body = known.with_bytes(bytes);
        let of_entry = bodies.entry(number(row, entry)).or_default();
        of_entry.push((slot, LoadedBody { body, damage }));
    }
    let sorted = |mut bodies: Vec<(i16, LoadedBody)>| {
        bodies.sort_by_key(|(slot, _)| *slot);
        bodies.into_iter().map(|(_, body)| body).collect()
    };
    bodies.into_iter().map(|(id, bodies)| (id, sorted(bodies))).collect()
}

/// The bodies in the rows of jobs that were loaded with bytes.
pub(super) fn bodies_of_jobs(rows: &[Row]) -> HashMap<i64, Vec<LoadedBody>> {
    loaded_bodies(rows, BODY, ENTRY)
}

/// The bodies of entries with their bytes.
pub(super) async fn bodies(
    tx: &mut Transaction<'_>,
    ids: Vec<i64>,
) -> Result<HashMap<i64, Vec<LoadedBody>>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let load = Statement::new(BODIES).with(ids);
    Ok(loaded_bodies(&tx.query(load).await?, 0, 7))
}

/// The rows of new entries, and of their bodies, which name their entries by their numbers among these. A join would compare each
/// body with each entry. No body is written unless every entry is.
const INSERT: &str = "WITH ids AS MATERIALIZED (SELECT array_agg(nextval('article_inbox_ids')) AS ids FROM unnest($1::text[])), \
    added AS (INSERT INTO article_inbox_entries \
    (id, job_id, event, received_at, state, attempts, fence, at, lease_end, since, held, target, search, cause_group, requeued_at, \
    document, checksum) \
    SELECT ids[number], job_id, event, received_at, state, attempts, fence, at, lease_end, since, held, target, search, cause_group, \
    requeued_at, document, checksum \
    FROM ids, unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
    $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::bigint[]) \
    WITH ORDINALITY AS new (job_id, event, received_at, state, attempts, fence, at, lease_end, since, held, target, search, \
    cause_group, requeued_at, document, checksum, number) \
    RETURNING 1), written AS ( \
    INSERT INTO article_inbox_bodies (entry, slot, received_at, digest, document, checksum, body) \
    SELECT ids[number], slot, received_at, digest, document, checksum, body \
    FROM ids, unnest($17::bigint[], $18::smallint[], $19::bigint[], $20::bytea[], $21::text[], $22::bigint[], $23::bytea[]) \
    AS new (number, slot, received_at, digest, document, checksum, body) \
    WHERE (SELECT count(*) FROM added) = cardinality(ids) RETURNING 1)";

/// An entry that is in another state than when it was loaded was completed by an application meanwhile.
const UPDATE: &str = "WITH written AS (UPDATE article_inbox_entries AS e SET state = new.state, attempts = new.attempts, fence = new.fence, \
    at = new.at, lease_end = new.lease_end, since = new.since, held = new.held, target = new.target, search = new.search, \
    cause_group = new.cause_group, requeued_at = new.requeued_at, \
    received_at = new.received_at, document = new.document, checksum = new.checksum \
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
    $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::bigint[]) AS new \
    (id, before, received_at, state, attempts, fence, at, lease_end, since, held, target, search, cause_group, requeued_at, document, \
    checksum) \
    WHERE e.id = new.id AND e.state = new.before RETURNING 1)";

const REMOVE: &str = "WITH gone AS (DELETE FROM article_inbox_bodies WHERE entry = ANY($1)), \
    written AS (DELETE FROM article_inbox_entries WHERE id = ANY($1) RETURNING 1)";

/// Bodies of entries that were there before.
const PUT_BODIES: &str = "WITH written AS (INSERT INTO article_inbox_bodies (entry, slot, received_at, digest, document, checksum, body) \
    SELECT entry, slot, received_at, digest, document, checksum, body \
    FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bytea[], $5::text[], $6::bigint[], $7::bytea[]) AS new \
    (entry, slot, received_at, digest, document, checksum, body) \
    ON CONFLICT (entry, slot) DO UPDATE SET received_at = excluded.received_at, digest = excluded.digest, \
    document = excluded.document, checksum = excluded.checksum, body = excluded.body RETURNING 1)";

/// Bodies whose bytes stay, or are removed.
const CHANGE_BODIES: &str = "WITH written AS (UPDATE article_inbox_bodies AS b SET received_at = new.received_at, digest = new.digest, \
    document = new.document, checksum = new.checksum, body = CASE WHEN new.has_bytes THEN b.body END \
    FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bytea[], $5::text[], $6::bigint[], $7::boolean[]) AS new \
    (entry, slot, received_at, digest, document, checksum, has_bytes) WHERE b.entry = new.entry AND b.slot = new.slot RETURNING 1)";

/// Saves what has changed in the entries of jobs, and in their bodies.
pub(super) fn save(tx: &mut Transaction<'_>, jobs: &[JobRows]) {
    let (mut new, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut put, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (job, entry) in
        jobs.iter().flat_map(|job| job.entries.iter().map(move |entry| (job, entry)))
    {
        let bodies: Vec<_> = changed_bodies(entry).collect();
        let has_changed = !bodies.is_empty() || matches!(entry.row.change(), Change::Update(_));
        match (entry.row.change(), entry.row.get()) {
            (Change::Delete, _) => removed.push(entry.row.id),
            (Change::Insert(row), _) => {
                new.push(Saved { job_id: &job.job_id, entry, row });
                first.extend(bodies.into_iter().map(|body| (new.len(), body)));
            }
            (_, Some(row)) if has_changed => {
                changed.push(Saved { job_id: &job.job_id, entry, row });
                let (with_bytes, others): (Vec<_>, Vec<_>) = bodies
                    .into_iter()
                    .map(|body| (entry.row.id, body))
                    .partition(|(_, body)| matches!(body.row.bytes, BodyBytes::New(_)));
                put.extend(with_bytes);
                kept.extend(others);
            }
            _ => {}
        }
    }
    // First, because another entry may take the key of one that is removed.
    if !removed.is_empty() {
        let rows = removed.len();
        tx.write(Statement::new(REMOVE).with(removed), rows);
    }
    if !new.is_empty() {
        let insert = Statement::new(INSERT)
            .with(new.iter().map(|saved| saved.job_id.to_string()).collect::<Vec<_>>())
            .with(new.iter().map(|saved| saved.entry.event.to_string()).collect::<Vec<_>>());
        let number = |(number, _): &(usize, _)| i64::try_from(*number).unwrap_or(i64::MAX);
        let insert = with_columns(insert, &new).with(first.iter().map(number).collect::<Vec<_>>());
        let bodies: Vec<_> = first.iter().map(|(_, body)| body).collect();
        tx.write(with_bytes(with_body_columns(insert, &bodies), &bodies), bodies.len());
    }
    if !changed.is_empty() {
        let before =
            |saved: &Saved<'_>| saved.entry.row.stored_row().map_or("", |row| row.state.as_str());
        let update = Statement::new(UPDATE)
            .with(changed.iter().map(|saved| saved.entry.row.id).collect::<Vec<_>>())
            .with(changed.iter().map(before).collect::<Vec<_>>());
        tx.write(with_columns(update, &changed), changed.len());
    }
    if !put.is_empty() {
        let statement =
            Statement::new(PUT_BODIES).with(put.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let bodies: Vec<_> = put.iter().map(|(_, body)| body).collect();
        tx.write(with_bytes(with_body_columns(statement, &bodies), &bodies), bodies.len());
    }
    if !kept.is_empty() {
        let statement =
            Statement::new(CHANGE_BODIES).with(kept.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let bodies: Vec<_> = kept.iter().map(|(_, body)| body).collect();
        let has_bytes = bodies.iter().map(|body| body.row.has_bytes()).collect::<Vec<_>>();
        tx.write(with_body_columns(statement, &bodies).with(has_bytes), bodies.len());
    }
}

/// An entry that is saved.
struct Saved<'a> {
    job_id: &'a JobId,
    entry: &'a EntryRows,
    row: &'a EntryRow,
}

/// Adds the columns of entries to a statement.
fn with_columns(statement: Statement, saved: &[Saved<'_>]) -> Statement {
    let documents: Vec<_> = saved.iter().map(|saved| codec::document(saved.row)).collect();
    let checksums = saved.iter().zip(&documents).map(|(saved, document)| {
        let Saved { job_id, entry, .. } = saved;
        checksum(job_id, entry.event.as_str(), to_millis(entry.received_at), document)
    });
    let checksums: Vec<_> = checksums.collect();
    let numbers = |number: fn(&EntryRows, &EntryRow) -> i64| {
        saved.iter().map(|saved| number(saved.entry, saved.row)).collect::<Vec<_>>()
    };
    statement
        .with(numbers(|entry, _| to_millis(entry.received_at)))
        .with(saved.iter().map(|saved| saved.row.state.as_str()).collect::<Vec<_>>())
        .with(numbers(|_, row| row.attempts.into()))
        .with(numbers(|_, row| row.fence))
        // No index holds the end of a lease, so that extending one changes no index.
        .with(numbers(|_, row| {
            to_millis(if row.state == State::Leased { row.since } else { row.at })
        }))
        .with(numbers(|_, row| to_millis(row.at)))
        .with(numbers(|_, row| to_millis(row.since)))
        .with(numbers(|entry, _| i64::try_from(entry.held()).unwrap_or(i64::MAX)))
        .with(saved.iter().map(|saved| saved.entry.target().into_string()).collect::<Vec<_>>())
        .with(saved.iter().map(|saved| saved.entry.search_text(saved.job_id)).collect::<Vec<_>>())
        .with(saved.iter().map(|saved| saved.row.group()).collect::<Vec<_>>())
        .with(saved.iter().map(|saved| saved.row.requeued_at.map(to_millis)).collect::<Vec<_>>())
        .with(documents)
        .with(checksums)
}

/// A body that is saved.
struct SavedBody<'a> {
    slot: i16,
    row: &'a BodyRow,
}

fn changed_bodies(entry: &EntryRows) -> impl Iterator<Item = SavedBody<'_>> {
    let mut next = 0;
    entry.bodies.iter().filter_map(move |body| {
        let is_new = matches!(body.change(), Change::Insert(_));
        let slot = if is_new { next } else { i16::try_from(body.id).unwrap_or(i16::MAX) };
        next = slot.saturating_add(1);
        match body.change() {
            Change::Insert(row) | Change::Update(row) => Some(SavedBody { slot, row }),
            Change::Nothing | Change::Delete => None,
        }
    })
}

/// Adds the columns of bodies to a statement.
fn with_body_columns(statement: Statement, bodies: &[&SavedBody<'_>]) -> Statement {
    let documents: Vec<_> = bodies.iter().map(|body| codec::document(body.row)).collect();
    let checksums = bodies.iter().zip(&documents).map(|(body, document)| {
        body_checksum(to_millis(body.row.received_at), body.row.digest.as_bytes(), document)
    });
    let checksums: Vec<_> = checksums.collect();
    let digest = |body: &&SavedBody<'_>| Blob(Bytes::copy_from_slice(body.row.digest.as_bytes()));
    statement
        .with(bodies.iter().map(|body| body.slot).collect::<Vec<_>>())
        .with(bodies.iter().map(|body| to_millis(body.row.received_at)).collect::<Vec<_>>())
        .with(bodies.iter().map(digest).collect::<Vec<_>>())
        .with(documents)
        .with(checksums)
}

fn with_bytes(statement: Statement, bodies: &[&SavedBody<'_>]) -> Statement {
    let bytes = |body: &&SavedBody<'_>| match &body.row.bytes {
        BodyBytes::New(bytes) => Some(Blob(bytes.clone())),
        BodyBytes::Stored(_) | BodyBytes::Removed => None,
    };
    statement.with(bodies.iter().map(bytes).collect::<Vec<_>>())
}
