//! The control of the power cut: a receiver of a few lines on the inbox's own tables, whose only merit or fault is
//! how often it syncs.

use std::sync::{Mutex, PoisonError};

use article_webhook_axum::{Delivery, Reply, Sink};
use article_webhook_inbox::{Digest, Inbox};
use rusqlite::{Connection, params};

use crate::role;

#[derive(Debug)]
pub(crate) struct Control(Mutex<Connection>);

impl Control {
    /// With `FULL`, it syncs the log when it commits, as the inbox does. With `NORMAL`, when the log is written back, and no
    /// sooner: everything looks fine until the power goes.
    pub(crate) async fn open(synchronous: &str) -> Self {
        let inbox = Inbox::open(role::FILE).await.expect("the inbox makes its tables");
        inbox.close().await.expect("the inbox closes");
        let connection = Connection::open(role::FILE).expect("the file is there");
        connection
            .pragma_update(None, "synchronous", synchronous)
            .expect("SQLite knows this setting");
        Self(Mutex::new(connection))
    }

    fn store(&self, delivery: &Delivery) -> rusqlite::Result<()> {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction()?;
        transaction.execute(
            "INSERT INTO article_inbox_entries \
             (job_id, event, received_at, state, attempts, fence, at, since, held, target, document, checksum) \
             VALUES (?1, ?2, 0, 'waiting', 0, 0, 0, 0, 1, '', '{}', 0)",
            params![delivery.job_id().as_str(), delivery.event().as_str()],
        )?;
        let slot = transaction.last_insert_rowid() * 16;
        transaction.execute(
            "INSERT INTO article_inbox_bodies (slot, received_at, digest, document, checksum, body) \
             VALUES (?1, 0, ?2, '{}', 0, ?3)",
            params![
                slot,
                &Digest::of(delivery.body()).as_bytes()[..],
                &delivery.body()[..]
            ],
        )?;
        transaction.commit()
    }
}

impl Sink for Control {
    async fn accept(&self, delivery: Delivery) -> Reply {
        match self.store(&delivery) {
            Ok(()) => Reply::Stored,
            Err(_) => Reply::Unavailable,
        }
    }
}
