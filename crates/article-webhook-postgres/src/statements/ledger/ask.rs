use article_webhook_inbox::{
    EntryKey, Source,
    store::{
        ApiAnswer, Arrival, Ask, AskClaim, AskLease, AskOutcome, AskSettled, Asks, from_millis,
        to_millis,
    },
};
use tokio_postgres::types::Type;

use super::{
    super::{record_body::record_body, rows::JOB_ID},
    bucket, jobs,
    rows::{self, StoredJob, stored_job},
};
use crate::{
    connection::{Transaction, Work},
    fault::Fault,
};

/// Selects jobs that [`JobRow::is_due`](article_webhook_inbox::store::JobRow::is_due) accepts, and locks them. What another
/// claim has locked is left.
const DUE: &str = concat!(
    "SELECT ",
    rows::job!(),
    " FROM article_inbox_jobs WHERE is_open AND at <= $1 ORDER BY at, id LIMIT $2 FOR UPDATE SKIP LOCKED"
);

const REMOVE: &str = "DELETE FROM article_inbox_jobs WHERE id = $1";

/// When the next job is due of those that were not claimed.
const NEXT: &str =
    "SELECT at FROM article_inbox_jobs WHERE is_open AND id <> ALL($1) ORDER BY at, id LIMIT 1";

/// Leases jobs that are due, as [`Ledger::claim_asks`](article_webhook_inbox::store::Ledger::claim_asks) says. Also returns what was found
/// damaged: a row without a job id is removed, and another is written anew with its ask.
pub(crate) fn claim_asks<'t>(
    tx: &'t Transaction<'t>,
    claim: &'t AskClaim,
) -> Work<'t, (Asks, Vec<String>)> {
    Box::pin(async move {
        let (now, limit) = (to_millis(tx.now().await?), i64::from(claim.limit));
        let (mut due, mut findings) = (Vec::new(), Vec::new());
        for row in tx.query(DUE, &[(&now as _, Type::INT8), (&limit as _, Type::INT8)]).await? {
            let job = stored_job(&row)?;
            if job.damage == Some(JOB_ID) {
                findings.push(job.finding(JOB_ID, "it was removed; expect its job again"));
                tx.execute(REMOVE, &[(&job.id, Type::INT8)]).await?;
                continue;
            }
            due.push(job);
        }
        let (asks, next_token) = bucket::change(tx, |bucket, now| {
            let taken = due.iter_mut().take_while(|_| bucket.take(claim.bucket, now));
            let asks: Vec<_> = taken
                .map(|job| {
                    let lease = job.row.ask(job.id, claim.lease, now);
                    let StoredJob { id, job_id, row, .. } = job.clone();
                    Ask { lease, job: row.into_job(id, job_id) }
                })
                .collect();
            (asks, bucket.next_token(claim.bucket, now))
        })
        .await?;
        due.truncate(asks.len());
        for job in &due {
            rows::save_job(tx, job).await?;
            findings.extend(job.damage.map(|column| job.finding(column, "it is asked for")));
        }
        let known: Vec<_> = due.iter().map(|job| job.id).collect();
        let next = tx.query(NEXT, &[(&known, Type::INT8_ARRAY)]).await?;
        let next = next.first().map(|row| row.try_get(0).map(from_millis)).transpose()?;
        Ok((Asks { asks, next: next.map(|due| due.max(next_token)) }, findings))
    })
}

/// Gives asks back, because the caller of a claim is gone.
pub(crate) fn release_asks<'t>(tx: &'t Transaction<'t>, leases: &'t [AskLease]) -> Work<'t, ()> {
    Box::pin(async move {
        for lease in leases {
            // It accepts no key.
            settle_ask(tx, &(*lease, AskOutcome::Released, 0)).await?;
        }
        Ok(())
    })
}

/// An ask, its outcome, and the key that it was made with.
pub(crate) type Asked = (AskLease, AskOutcome, u64);

/// Stores the outcome of an ask, as [`Ledger::settle_ask`](article_webhook_inbox::store::Ledger::settle_ask) says.
pub(crate) fn settle_ask<'t>(
    tx: &'t Transaction<'t>,
    (lease, outcome, key): &'t Asked,
) -> Work<'t, AskSettled> {
    Box::pin(async move {
        let job = jobs::lock_id(tx, lease.id).await?;
        let now = tx.now().await?;
        let Some(mut job) = job.filter(|job| job.row.is_asked(*lease, now)) else {
            accept_key(tx, outcome, *key).await?;
            return Ok(AskSettled::LostLease);
        };
        let (mut entry, before) = (None, job.row.clone());
        match outcome {
            AskOutcome::Answered(answer) => {
                entry = jobs::article_entry(tx, &job.job_id).await?.map(|entry| entry.state);
                if job.row.records_answer(answer.digest, entry) {
                    let key = EntryKey::article(job.job_id.clone());
                    entry = Some(record_body(tx, &arrival(key, &job, answer)).await?.1);
                }
            }
            AskOutcome::Failed { answer, .. } => {
                let key = EntryKey::failure(job.job_id.clone());
                record_body(tx, &arrival(key, &job, answer)).await?;
            }
            _ => {}
        }
        let settled = job.row.settle(*lease, outcome, *key, entry, now);
        jobs::save(tx, &job, &before).await?;
        accept_key(tx, outcome, *key).await?;
        Ok(settled)
    })
}

/// Ends the pause of a key that the service accepted, also if the lease is lost: it is the answer that says so. The bucket
/// is locked last.
async fn accept_key(tx: &Transaction<'_>, outcome: &AskOutcome, key: u64) -> Result<(), Fault> {
    if !matches!(outcome, AskOutcome::Again { .. } | AskOutcome::Released) {
        bucket::change(tx, |bucket, _| bucket.accept_key(key)).await?;
    }
    Ok(())
}

fn arrival(key: EntryKey, job: &StoredJob, answer: &ApiAnswer) -> Arrival {
    Arrival {
        key,
        source: Source::Api,
        target: answer.target.clone(),
        intent: job.row.intent.clone(),
        digest: answer.digest,
        bytes: answer.bytes.clone(),
    }
}
