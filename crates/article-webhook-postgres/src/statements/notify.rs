use tokio_postgres::types::Type;

use super::sql;
use crate::connection::{Transaction, Work};

/// The channel of all inboxes of a database.
pub(crate) const CHANNEL: &str = "article_inbox";

/// What the other nodes are told.
pub(crate) struct Notification {
    pub(crate) payload: String,
    pub(crate) sent: Sent,
}

/// When a notification is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Always,
    /// Only if an entry is due that no worker has taken.
    IfDue,
}

/// Tells the other nodes. No delivery waits for this transaction, and none is in it: PostgreSQL commits one transaction with
/// a notification at a time. It changes nothing, so it does not wait for the disk either.
pub(crate) fn notify<'t>(tx: &'t Transaction<'t>, notification: &'t Notification) -> Work<'t, ()> {
    Box::pin(async move {
        let always = notification.sent == Sent::Always;
        let parameters = [
            (&tx.given_time() as _, Type::INT8),
            (&CHANNEL as _, Type::TEXT),
            (&notification.payload as _, Type::TEXT),
            (&always as _, Type::BOOL),
        ];
        tx.query(sql::NOTIFY, &parameters).await?;
        Ok(())
    })
}
