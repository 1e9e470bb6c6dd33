use article_webhook_inbox::State;
use tokio_postgres::types::Type;

use super::super::{
    ledger,
    rows::{self, JOB_ID, StoredRow},
    sql,
};
use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

/// A job id that an operator can write takes the place of one that is none.
const RENAME: &str = "UPDATE article_inbox_entries e SET job_id = $2 WHERE e.id = $1 \
    AND NOT EXISTS (SELECT FROM article_inbox_entries WHERE job_id = $2)";

/// What a claim found damaged of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damaged {
    Row,
    /// The server cannot read them.
    Bodies,
}

/// Sets an entry aside that is damaged: it is corrupt from now on, and what is stored of it is sound. Returns what was found.
/// `None`: no claim would find it any more, because another node was first.
pub(crate) fn isolate<'t>(
    tx: &'t Transaction<'t>,
    (id, damaged): &'t (i64, Damaged),
) -> Work<'t, Option<String>> {
    Box::pin(async move {
        ledger::lock_of_entry(tx, *id).await?;
        let Some(mut stored) = rows::lock(tx, *id).await? else { return Ok(None) };
        // One that has ended meanwhile stays so.
        let of_row = stored.damage.filter(|_| stored.row.state == State::Corrupt);
        let is_live = matches!(stored.row.state, State::Waiting | State::Leased);
        let looks_at_bodies = *damaged == Damaged::Bodies && is_live && stored.damage.is_none();
        if of_row.is_none() && !looks_at_bodies {
            return Ok(None);
        }
        let of_bodies = match tx.unless_damaged(empty_unreadable(tx, *id)).await? {
            Some(false) => None,
            Some(true) => Some("a body cannot be read, a page is damaged".to_owned()),
            None => {
                stored.id = leave_bodies(tx, *id).await?;
                Some(format!(
                    "its bodies cannot be read, a page is damaged; they stay as those of entry {id}"
                ))
            }
        };
        let of_row = of_row.map(|column| format!("the column {column} of its row is damaged"));
        let Some(cause) = of_row.or(of_bodies) else { return Ok(None) };
        stored.row.mark_corrupt(cause.clone(), tx.now().await?);
        rows::save(tx, &stored).await?;
        if stored.damage == Some(JOB_ID) {
            let parameters =
                [(id as _, Type::INT8), (&stored.key.job_id.as_str() as _, Type::TEXT)];
            tx.execute(RENAME, &parameters).await?;
        }
        ledger::sync_with_entry(tx, &stored).await?;
        let finding =
            format!("{} is corrupt: {cause}; deliver or collect the job again", name(&stored));
        Ok(Some(finding))
    })
}

/// Empties the bodies that the server cannot read, so that they keep the entry from nothing: the digest stays. Whether there
/// were any.
async fn empty_unreadable(tx: &Transaction<'_>, id: i64) -> Result<bool, Fault> {
    let mut unreadable = Vec::new();
    for body in rows::known_bodies(tx, &[id]).await?.remove(&id).unwrap_or_default() {
        let read = "SELECT sha256(body) FROM article_inbox_bodies WHERE entry = $1 AND slot = $2";
        let parameters = [(&id as _, Type::INT8), (&body.slot as _, Type::INT2)];
        if tx.unless_damaged(tx.query(read, &parameters)).await?.is_none() {
            unreadable.push(body.slot);
        }
    }
    let empty = "UPDATE article_inbox_bodies SET body = NULL WHERE entry = $1 AND slot = ANY($2)";
    tx.execute(empty, &[(&id, Type::INT8), (&unreadable, Type::INT2_ARRAY)]).await?;
    tx.execute(sql::COUNT_HELD, &[(&[id].as_slice(), Type::INT8_ARRAY)]).await?;
    Ok(!unreadable.is_empty())
}

/// Gives an entry another id, under which it has no bodies, and returns it. Whatever looks at its bodies would fail, and so
/// would the next delivery.
async fn leave_bodies(tx: &Transaction<'_>, id: i64) -> Result<i64, Fault> {
    let leave = "UPDATE article_inbox_entries SET id = DEFAULT, has_bytes = false WHERE id = $1 RETURNING id";
    Ok(first(&tx.query(leave, &[(&id, Type::INT8)]).await?)?.try_get(0)?)
}

/// An entry in a finding.
pub(super) fn name(stored: &StoredRow) -> String {
    let key = stored.key.to_string();
    format!("entry {}, {},", stored.id, key.escape_debug())
}
