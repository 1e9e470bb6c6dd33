//! Intents, and the bucket of the API.

use article_webhook::JobId;
use article_webhook_inbox::{
    IntentState,
    store::{
        Bucket, IntentRow, from_millis,
        tables::{
            Change, Tracked, codec,
            script::{IntentRows, Intents},
        },
        to_millis,
    },
};
use tokio_postgres::Row;

use super::value::{number, text, value};
use crate::{
    connection::{Statement, Transaction, first},
    fault::Fault,
    objects::{UNLOGGED, check_logged},
};

macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, name, state, created_at, at, fence, job_id, document, checksum FROM article_inbox_intents ",
            $condition
        )
    };
}

/// Locks intents, whether they are there or not, in an order that is the same everywhere. The class is another than that of jobs.
const LOCK: &str = "SELECT pg_advisory_xact_lock('article_inbox_intents'::regclass::oid::int, key) FROM \
    (SELECT DISTINCT hashtext(name) AS key FROM unnest($1::text[]) AS named (name) ORDER BY key) AS keys";

/// The outcome of an order is unknown once its deadline has passed.
const LISTED: &str = select!(
    "WHERE id > $2 AND ($4 IS NULL OR CASE WHEN state = 'ordering' \
     AND at <= coalesce($1::bigint, floor(extract(epoch FROM now()) * 1000)::bigint) THEN 'unknown' ELSE state END = $4) \
     ORDER BY id LIMIT $3"
);

/// The intents that are selected.
pub(super) async fn load(
    tx: &mut Transaction<'_>,
    which: Intents,
) -> Result<Vec<IntentRows>, Fault> {
    let (select, names) = match which {
        Intents::Named(names) if names.is_empty() => return Ok(Vec::new()),
        Intents::Named(names) => {
            let wanted: Vec<_> = names.iter().map(ToString::to_string).collect();
            (Statement::new(select!("WHERE name = ANY($1)")).with(wanted), names)
        }
        Intents::Of(id) => (Statement::new(select!("WHERE id = $1")).with(id), Vec::new()),
        Intents::MayHaveOrdered(jobs) => {
            let select = select!(
                "WHERE id IN (SELECT id FROM article_inbox_intents WHERE job_id = ANY($1) \
                 UNION SELECT id FROM article_inbox_intents WHERE name = ANY($2) \
                 UNION SELECT id FROM article_inbox_intents WHERE state IN ('ordering', 'abandoned'))"
            );
            let (jobs, intents): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
            let jobs: Vec<_> = jobs.iter().map(ToString::to_string).collect();
            let intents: Vec<_> = intents.into_iter().flatten().map(String::from).collect();
            (Statement::new(select).with(jobs).with(intents), Vec::new())
        }
        Intents::Ordering => (Statement::new(select!("WHERE state = 'ordering'")), Vec::new()),
        Intents::Listed { state, after, limit } => {
            let select = Statement::new(LISTED)
                .with(tx.given_time())
                .with(after)
                .with(i64::from(limit))
                .with(state.map(|state| state.as_str().to_owned()));
            (select, Vec::new())
        }
    };
    let rows = if tx.is_read_only() {
        tx.query(select).await?
    } else {
        let lock =
            Statement::new(LOCK).with(names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let (select, unlogged) =
            (select.and(" ORDER BY id FOR UPDATE"), Statement::new(&**UNLOGGED));
        let [_, rows, unlogged] = tx.query_all([lock, select, unlogged]).await?;
        check_logged(&unlogged)?;
        rows
    };
    let mut found: Vec<_> = rows.iter().map(|row| intent(row, tx)).collect();
    let missing: Vec<_> =
        names.into_iter().filter(|name| !found.iter().any(|intent| intent.name == *name)).collect();
    found.extend(missing.into_iter().map(|name| IntentRows { name, row: Tracked::none() }));
    Ok(found)
}

fn intent(row: &Row, tx: &mut Transaction<'_>) -> IntentRows {
    let name = text(row, 1);
    let state = IntentState::from_name(text(row, 2));
    let (created_at, document) = (number(row, 3), text(row, 7));
    let is_sound = number(row, 8) == checksum(name, created_at, document);
    let known = codec::row::<IntentRow>(document).filter(|_| is_sound);
    if known.is_none() {
        tx.add_damage(
            "ledger",
            format!(
                "the intent {}: its checksum does not match; the outcome of its order is treated as unknown",
                name.escape_debug()
            ),
        );
    }
    let stored = IntentRow {
        // An order that cannot be read may have been taken: it is never made again by itself.
        state: state.unwrap_or_default(),
        created_at: from_millis(created_at),
        at: from_millis(number(row, 4)),
        fence: number(row, 5),
        job_id: value::<&str>(row, 6).and_then(|job_id| job_id.parse().ok()),
        ..known.unwrap_or_else(IntentRow::unread)
    };
    let tracked = if state.is_some() { Tracked::stored } else { Tracked::of_newer };
    IntentRows { name: name.into(), row: tracked(number(row, 0), stored) }
}

fn checksum(name: &str, created_at: i64, document: &str) -> i64 {
    codec::checksum(&[name.as_bytes(), &created_at.to_le_bytes()], document)
}

const INSERT: &str = "INSERT INTO article_inbox_intents (name, state, created_at, at, fence, job_id, document, checksum) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";

const UPDATE: &str = "WITH written AS (UPDATE article_inbox_intents SET state = $2, created_at = $3, at = $4, fence = $5, job_id = $6, \
    document = $7, checksum = $8 WHERE name = $1 RETURNING 1)";

/// Saves what has changed in intents.
pub(super) async fn save(
    tx: &mut Transaction<'_>,
    intents: &mut [IntentRows],
) -> Result<(), Fault> {
    for IntentRows { name, row: tracked } in intents {
        let (statement, row) = match tracked.change() {
            Change::Nothing => continue,
            Change::Delete => {
                let remove =
                    "WITH written AS (DELETE FROM article_inbox_intents WHERE id = $1 RETURNING 1)";
                tx.write(Statement::new(remove).with(tracked.id), 1);
                continue;
            }
            Change::Insert(row) => (INSERT, row),
            Change::Update(row) => (UPDATE, row),
        };
        let (document, created_at) = (codec::document(row), to_millis(row.created_at));
        let checksum = checksum(name, created_at, &document);
        let is_new = tracked.id == 0;
        let statement = Statement::new(statement)
            .with(name.to_string())
            .with(row.state.as_str())
            .with(created_at)
            .with(to_millis(row.at))
            .with(row.fence)
            .with(row.job_id.as_ref().map(JobId::to_string))
            .with(document)
            .with(checksum);
        if is_new {
            tracked.id = first(&tx.query(statement).await?)?.try_get(0)?;
        } else {
            tx.write(statement, 1);
        }
    }
    Ok(())
}

/// The bucket. Before its first use, it is full.
pub(super) async fn load_bucket(tx: &mut Transaction<'_>) -> Result<Bucket, Fault> {
    let mut load = Statement::new("SELECT value FROM article_inbox_bucket WHERE id = 1");
    if !tx.is_read_only() {
        load = load.and(" FOR UPDATE");
    }
    let rows = tx.query(load).await?;
    Ok(match value::<&str>(first(&rows)?, 0) {
        None => Bucket::new(),
        // An empty bucket polls too little for a few minutes, and a full one could poll too much.
        Some(stored) => codec::row(stored).unwrap_or_else(|| {
            let finding = "the token bucket of polls is damaged, and is empty now";
            tx.add_damage("ledger", finding.to_owned());
            Bucket::empty()
        }),
    })
}

/// Saves the bucket.
pub(super) fn save_bucket(tx: &mut Transaction<'_>, bucket: &Bucket) {
    let save =
        "WITH written AS (UPDATE article_inbox_bucket SET value = $1 WHERE id = 1 RETURNING 1)";
    tx.write(Statement::new(save).with(codec::document(bucket)), 1);
}
