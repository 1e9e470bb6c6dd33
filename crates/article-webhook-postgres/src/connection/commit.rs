use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use article_webhook_inbox::Error;
use deadpool::managed::Pool;
use tokio::{select, sync::Semaphore, time::timeout};
use tokio_postgres::types::Type;

use super::connect::{Connector, Session};
use crate::fault::Fault;

/// How long the answer to a commit is waited for. Then its outcome is unknown.
/// It is less than the time that a receiver waits.
pub(super) const COMMIT_TIMEOUT: Duration = Duration::from_secs(4);

/// The statements that commit. A connection that is in them does nothing else.
const COMMIT: &str = "SELECT set_config('statement_timeout', '0', true), set_config('client_min_messages', 'warning', true); COMMIT";

/// The pause between two queries whether the server still commits, and the pause after a query without an answer.
const CHECK_INTERVAL: Duration = Duration::from_secs(120);
const CHECK_RETRY_PAUSE: Duration = Duration::from_secs(5);

/// How long that query may take. Connecting has its own limits.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a COMMIT of this role has been in progress for a while. NULL if the server does not track what the role does.
const COMMITTING: &str = "SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity WHERE usename = session_user AND state = 'disabled') \
    THEN NULL ELSE EXISTS (SELECT FROM pg_stat_activity WHERE usename = session_user AND state = 'active' \
    AND query = $1 AND query_start < clock_timestamp() - interval '3 seconds') END";

/// Commits, and fails if it is not known that the transaction is safe.
///
/// It is never cancelled, and the server gives it no time-out: both end the wait for a standby, and PostgreSQL then
/// answers as if all were well, with a warning. So a warning means that the outcome is unknown.
pub(super) async fn commit(session: &Session) -> Result<(), Fault> {
    let before = session.notices.load(Ordering::SeqCst);
    session.client.batch_execute(COMMIT).await.map_err(of_commit)?;
    check_notices(session, before)
}

/// Fails if the server has sent a warning since then.
fn check_notices(session: &Session, before: u64) -> Result<(), Fault> {
    if session.notices.load(Ordering::SeqCst) == before {
        return Ok(());
    }
    Err(Fault::Ours(Error::unavailable(
        "PostgreSQL committed with a warning, so that a standby may lack it: its outcome is unknown",
    )))
}

/// The fault of a COMMIT.
fn of_commit(error: tokio_postgres::Error) -> Fault {
    match error.code() {
        Some(_) => Fault::Driver(error),
        None => Fault::Ours(
            Error::unavailable("the connection was lost during a commit: its outcome is unknown")
                .because(error.to_string()),
        ),
    }
}

/// The fault of a commit whose answer is not waited for any longer.
pub(super) fn unanswered() -> Fault {
    Fault::Ours(Error::unavailable(format!(
        "PostgreSQL has not answered a COMMIT for {} seconds, so that its outcome is unknown: look for a synchronous \
         standby that is missing, or for a disk that is slow",
        COMMIT_TIMEOUT.as_secs()
    )))
}

/// The commits that were not answered in time, and go on without their callers.
///
/// Each keeps its connection, and its slot in the pool, until it ends. While a synchronous standby is missing, the server
/// ends no commit, also if its connection is gone: connections that replace it would take one slot of the server
/// after the other.
/// A connection whose server has vanished ends by its keepalives. Behind a pooler it may not, so the server is queried.
/// One of them queries at a time, so that all of them together take one connection more.
#[derive(Clone)]
pub(super) struct Unanswered {
    count: Arc<AtomicUsize>,
    checking: Arc<Semaphore>,
}

impl Unanswered {
    pub(super) fn none() -> Self {
        Self { count: Arc::default(), checking: Arc::new(Semaphore::new(1)) }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Waits until a commit ends, or is none of the server's any more.
    pub(super) async fn wait(
        self,
        commit: impl Future<Output = Result<(), Fault>>,
        pool: Pool<Connector>,
    ) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut commit = pin!(commit);
        loop {
            let turn = select! {
                biased;
                _ = &mut commit => break,
                turn = self.checking.acquire() => turn,
            };
            let pause = match is_committing(pool.manager()).await {
                // It may have ended just now, and its connection is checked in.
                Some(false) => Duration::ZERO,
                Some(true) => CHECK_INTERVAL,
                None => CHECK_RETRY_PAUSE,
            };
            drop(turn);
            if timeout(pause, &mut commit).await.is_ok() || pause.is_zero() {
                break;
            }
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether the server still commits something of this role, if that can be known.
async fn is_committing(connector: &Connector) -> Option<bool> {
    let session = timeout(CHECK_TIMEOUT, connector.connect(|_| ())).await.ok()?.ok()?;
    let parameters = [(&COMMIT as _, Type::TEXT)];
    let row = timeout(CHECK_TIMEOUT, session.client.query_typed(COMMITTING, &parameters)).await;
    // Its task would wait for an answer without end.
    session.task.abort();
    row.ok()?.ok()?.first()?.try_get(0).ok()?
}
