use std::{
    hash::{BuildHasher, RandomState},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use article_webhook_inbox::Error;
use tokio::{
    sync::{Notify, oneshot},
    task::AbortHandle,
    time::{sleep, timeout},
};

use crate::{
    connection::{Access, Database, PoolKind, Statement, Transaction, Work},
    fault::Fault,
    log,
};

/// The channel of all inboxes of a database.
const CHANNEL: &str = "article_inbox";

/// Notifies the other nodes, if the last parameter is true or an entry waits that is due. One that was just stored has not been due
/// for long, so the index is not read from its beginning, which may be full of what was claimed.
const NOTIFY: &str = "WITH clock AS MATERIALIZED \
    (SELECT coalesce($1::bigint, floor(extract(epoch FROM now()) * 1000)::bigint) AS now) SELECT pg_notify($2, $3) WHERE $4 \
    OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND is_failure IN (false, true) AND is_retry IN (false, true) \
    AND at BETWEEN (SELECT now - 20000 FROM clock) AND (SELECT now FROM clock))";

/// Notifies all nodes once it is committed.
pub(crate) fn to_all(schema: &str) -> Statement {
    let notify = "WITH written AS MATERIALIZED (SELECT pg_notify($1, $2))";
    Statement::new(notify).with(CHANNEL).with(format!("{schema} all"))
}

/// A notification for the other nodes. No delivery waits for this transaction, and none is in it: PostgreSQL commits one transaction
/// with a notification at a time. It changes nothing, so it does not wait for the disk either.
struct Notification {
    payload: String,
    sent: Sent,
}

/// When a notification is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Always,
    /// Only if an entry is due that no worker has taken.
    IfDue,
}

impl Work for Notification {
    type Output = ();

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Fault> {
        let notify = Statement::new(NOTIFY)
            .with(tx.given_time())
            .with(CHANNEL)
            .with(self.payload.clone())
            .with(self.sent == Sent::Always);
        tx.query(notify).await.map(drop)
    }
}

/// How long a node waits before it notifies others: what its own workers take meanwhile needs no notification, and entries that are
/// stored together need one.
const NOTIFY_DELAY: Duration = Duration::from_millis(50);

/// How long a notification of its own may take until a node receives it.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a node does not listen after its connection was lost, and after it did not receive its own notification.
const PAUSE_AFTER_LOST: Duration = Duration::from_secs(5);
const PAUSE_AFTER_FAILED_PROBE: Duration = Duration::from_secs(600);

/// Notifies the workers of other nodes that entries were stored, and receives their notifications. It saves them the time
/// until their next poll. Nothing else depends on it: a notification may be lost, and a pooler that changes connections lets none through.
pub(crate) struct Notifications {
    database: Arc<Database>,
    /// Names this store among the nodes. A notification is the schema and this name.
    node: String,
    /// A notification will be sent that is not sent yet.
    is_sending: AtomicBool,
    wakes: Arc<Wakes>,
    listening: OnceLock<AbortHandle>,
}

/// What wakes the workers of this process.
#[derive(Default)]
struct Wakes(Mutex<Vec<Box<dyn Fn() + Send + Sync>>>);

impl Notifications {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        let node = format!("{:016x}", RandomState::new().hash_one("node"));
        Self {
            database,
            node,
            is_sending: AtomicBool::new(false),
            wakes: Arc::default(),
            listening: OnceLock::new(),
        }
    }

    /// Notifies the other nodes soon that an entry was stored.
    pub(crate) fn send(self: &Arc<Self>) {
        if self.is_sending.swap(true, Ordering::SeqCst) {
            return;
        }
        let notifications = Arc::clone(self);
        self.database.connections.runtime.spawn(async move {
            sleep(NOTIFY_DELAY).await;
            // What is stored from here on has a notification of its own.
            notifications.is_sending.store(false, Ordering::SeqCst);
            let Notifications { database, node, .. } = &*notifications;
            let payload = format!("{} {node}", database.settings.schema);
            let notification = Notification { payload, sent: Sent::IfDue };
            // If this fails, the others poll.
            let _ = database.transact(PoolKind::Working, Access::Lease, notification).await;
        });
    }

    /// Takes what wakes the workers of an inbox.
    pub(crate) fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.wakes.lock().push(wake);
    }

    /// Listens from now on, if there are workers to wake. A node that only receives has no connection for it.
    pub(crate) fn listen(&self) {
        let connections = &self.database.connections;
        if self.wakes.lock().is_empty() || connections.check_open().is_err() {
            return;
        }
        self.listening.get_or_init(|| {
            let (database, wakes) = (Arc::clone(&self.database), Arc::clone(&self.wakes));
            let listening = listen(database, self.node.clone(), wakes);
            connections.runtime.spawn(listening).abort_handle()
        });
        // It may have been closed meanwhile.
        if connections.check_open().is_err() {
            self.close();
        }
    }

    /// Listens no longer.
    pub(crate) fn close(&self) {
        if let Some(listening) = self.listening.get() {
            listening.abort();
        }
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        self.close();
    }
}

impl Wakes {
    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Fn() + Send + Sync>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.lock().iter().for_each(|wake| wake());
    }
}

async fn listen(database: Arc<Database>, node: String, wakes: Arc<Wakes>) {
    let mut is_logged = false;
    loop {
        let pause = match listen_once(&database, &node, &wakes).await {
            Ok(Ended::NotReceived) => {
                if !mem::replace(&mut is_logged, true) {
                    log::notifications_missing();
                }
                PAUSE_AFTER_FAILED_PROBE
            }
            Ok(Ended::Lost) | Err(_) => PAUSE_AFTER_LOST,
        };
        // Nodes that lost the server together do not come back together.
        sleep(pause.mul_f64(1.0 - 0.5 * fastrand::f64())).await;
    }
}

/// Why a connection is no longer listened on.
enum Ended {
    Lost,
    /// The node did not receive its own notification: a pooler gives the connection to others.
    NotReceived,
}

/// Listens on a connection until it ends.
async fn listen_once(
    database: &Arc<Database>,
    node: &str,
    wakes: &Arc<Wakes>,
) -> Result<Ended, Error> {
    let schema = &database.settings.schema;
    let (own, probe) = (format!("{schema} {node}"), format!("{schema} {node} probe"));
    let probed = Arc::new(Notify::new());
    let (is_open, ended) = oneshot::channel::<()>();
    let on_notify = {
        let of_schema = format!("{schema} ");
        let (own, probe) = (own, probe.clone());
        let (probed, wakes) = (Arc::clone(&probed), Arc::clone(wakes));
        move |payload: &str| {
            // Dropped with the connection.
            let _ = &is_open;
            if payload == probe {
                probed.notify_one();
            } else if payload.starts_with(&of_schema) && payload != own {
                wakes.wake();
            }
        }
    };
    let client = database.connections.listen(CHANNEL, on_notify).await?;
    // Sent on another connection: a pooler may bring a notification back to the one that sent it.
    let notification = Notification { payload: probe, sent: Sent::Always };
    database.transact(PoolKind::Working, Access::Lease, notification).await?;
    if timeout(PROBE_TIMEOUT, probed.notified()).await.is_err() {
        return Ok(Ended::NotReceived);
    }
    // Entries may have come before it listened.
    wakes.wake();
    let _ = ended.await;
    drop(client);
    Ok(Ended::Lost)
}
