//! What the children's worker does with a job: what the first word of its id says.

use std::{path::Path, process, sync::Arc, thread, time::Duration};

use article_webhook_inbox::{Failed, Job};
use rusqlite::{Connection, TransactionBehavior, params_from_iter};

use crate::runs::Runs;

#[derive(Debug, Clone)]
pub(crate) struct Handler {
    runs: Runs,
    file: Arc<Path>,
}

impl Handler {
    /// Much longer than it takes to abort the process and to start it again.
    pub(crate) const LONG: Duration = Duration::from_secs(3);

    pub(crate) fn new(runs: Runs, file: &Path) -> Self {
        Self { runs, file: file.into() }
    }

    pub(crate) async fn handle(self, job: Job) -> Result<(), Failed> {
        self.runs.note("began", job.job_id().as_str());
        match job.job_id().as_str().split('-').next() {
            Some("transaction") => self.complete(&job)?,
            Some("fails") => Err("as it always does")?,
            Some("slow") => tokio::time::sleep(Duration::from_millis(150)).await,
            Some("long") => tokio::time::sleep(Self::LONG).await,
            Some("panics") => panic!("as it always does"),
            Some("aborts") => process::abort(),
            // Other threads go on: it is not the processor that is held, but this thread.
            Some("blocks") => loop {
                thread::sleep(Duration::from_millis(50));
            },
            Some("hoards") => {
                let mut hoard = Vec::new();
                loop {
                    hoard.push(vec![1_u8; 1 << 20]);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            _ => {}
        }
        self.runs.note("ended", job.job_id().as_str());
        Ok(())
    }

    /// Completes the entry in a transaction of the application's own, together with its effect.
    fn complete(&self, job: &Job) -> Result<(), Failed> {
        let completion = job.completion()?;
        let mut connection = Connection::open(&self.file)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Checkpoints are the inbox's business.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.busy_timeout(Duration::from_secs(2))?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute("CREATE TABLE IF NOT EXISTS effects (job_id TEXT)", [])?;
        transaction.execute("INSERT INTO effects VALUES (?1)", [job.job_id().as_str()])?;
        if transaction.execute(completion.sql(), params_from_iter(completion.parameters()))? == 0 {
            return Err("the lease is lost".into());
        }
        transaction.commit()?;
        Ok(())
    }
}
