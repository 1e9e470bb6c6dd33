use crate::{
    call::BucketEvent,
    rules::Bucket,
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
        statements::rows,
    },
};

/// The bucket, if it was used before. A damaged row is told, and the bucket begins anew.
pub(super) fn load(tx: &Tx<'_>) -> Result<Option<Bucket>, Fault> {
    let Some(read) = rows::read_bucket(tx)? else { return Ok(None) };
    if let Err(damaged) = read {
        let finding = format!("the bucket of asks is damaged ({damaged}), and begins anew");
        tx.found(Part::Ledger, finding);
    }
    Ok(read.ok())
}

/// Changes the bucket, and saves it if it was not used before or is another one now.
pub(super) fn change<T>(tx: &Tx<'_>, change: impl FnOnce(&mut Bucket) -> T) -> Result<T, Fault> {
    let before = load(tx)?;
    let mut bucket = before.clone().unwrap_or_else(|| Bucket::new(tx.now()));
    let changed = change(&mut bucket);
    if before.as_ref() != Some(&bucket) {
        rows::save_bucket(tx, &bucket)?;
    }
    Ok(changed)
}

/// Stores what happened to the bucket.
pub(in crate::store::sqlite) fn report(tx: &Tx<'_>, event: BucketEvent) -> Result<(), Fault> {
    change(tx, |bucket| bucket.report(event, tx.now()))
}

/// Takes over a bucket that another store exported.
pub(in crate::store::sqlite) fn import_bucket(tx: &Tx<'_>, other: &Bucket) -> Result<(), Fault> {
    change(tx, |bucket| bucket.import(other, tx.now()))
}
