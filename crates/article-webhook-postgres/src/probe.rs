use std::iter::repeat_with;

use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, EntryKey, Error, Source,
    store::{
        Arrival,
        tables::script::{Discard, Record},
    },
};

use crate::{
    connection::{Statement, Transaction, Work},
    fault::Fault,
    tables::{Recording, Scripted, WRITE_LOG},
};

/// The size of a probe's body, which is that of an article. No compression makes it smaller, so that it needs room.
const BODY_BYTES: usize = 16 << 10;

/// Tries what each delivery does, then what becomes of an entry later, and takes both back. A record in the log stays, so that
/// the commit waits for the disk and the standbys.
///
/// The output says whether the entry could be changed: if not, deliveries are stored, and workers are hindered.
pub(crate) struct Probe {
    delivery: Recording,
    change: Scripted<Discard>,
}

impl Probe {
    /// A probe of a job of its own, so that none waits for another.
    pub(crate) fn new() -> Result<Self, Error> {
        let job_id = format!("probe_{:016x}", fastrand::u64(..)).parse::<JobId>();
        let job_id = job_id.map_err(|error| Error::invalid(error.to_string()))?;
        let bytes: Vec<u8> = repeat_with(|| fastrand::u8(..)).take(BODY_BYTES).collect();
        let arrival = Arrival {
            key: EntryKey::article(job_id),
            source: Source::Webhook,
            target: "probe".into(),
            intent: None,
            digest: Digest::of(&bytes),
            bytes: bytes.into(),
        };
        let change = Scripted(Discard(vec![arrival.key.clone()], "a probe".to_owned()));
        Ok(Self { delivery: Recording(Scripted(Record(vec![arrival]))), change })
    }
}

/// What is checked at the end of a transaction is checked now: a commit would be refused by it.
const CHECK_CONSTRAINTS: &str = "SET CONSTRAINTS ALL IMMEDIATE";

impl Work for Probe {
    type Output = Result<(), Error>;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Output, Fault> {
        tx.batch("SAVEPOINT probe").await?;
        self.delivery.run(tx).await?;
        tx.batch(CHECK_CONSTRAINTS).await?;
        let changed = match self.change.run(tx).await {
            Ok(_) => tx.batch(CHECK_CONSTRAINTS).await,
            Err(fault) => Err(fault),
        };
        tx.batch("ROLLBACK TO SAVEPOINT probe").await?;
        tx.write(Statement::new(WRITE_LOG), 1);
        Ok(changed.map_err(Error::from))
    }
}
