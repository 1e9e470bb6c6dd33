use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use article_webhook_inbox::Error;
use deadpool::managed::{Object, Pool, PoolError, Timeouts};
use tokio::{
    runtime::Handle,
    sync::{OwnedRwLockReadGuard, RwLock},
    time::{Instant, sleep, timeout},
};
use tokio_postgres::Client;

use super::{
    commit::Unanswered,
    connect::{Connector, Session, Wanted},
    hosts::Hosts,
    tls::Tls,
};
use crate::{
    fault::{Fault, late},
    settings::{PostgresSettings, Purpose},
};

/// How long a call waits for a connection.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a call waits before it looks for a connection again, while the server gives no more of them.
const CHECKOUT_RETRY: Duration = Duration::from_millis(50);

/// How long closing waits for calls in progress. All but a claim that reads everything, and a check, end before.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);

/// Which pool serves a call. Neither pool waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// Storing deliveries.
    Receiving,
    /// Everything else.
    Working,
}

/// The connections of a store, and whether it is open.
pub(crate) struct Connections {
    receiving: Pool<Connector>,
    working: Pool<Connector>,
    unanswered: Unanswered,
    pub(crate) runtime: Handle,
    is_closed: AtomicBool,
    /// Each call holds it for reading. Closing waits for all of them.
    calls: Arc<RwLock<()>>,
}

/// A call that closing waits for.
pub(crate) type OpenCall = OwnedRwLockReadGuard<()>;

impl Connections {
    pub(crate) fn new(settings: &PostgresSettings) -> Result<Self, Error> {
        let hosts = Arc::new(Hosts::of(&settings.config));
        let (runtime, tls) = (Handle::current(), Tls::new(settings, &hosts)?);
        let pool = |size| {
            let (hosts, tls, runtime) = (Arc::clone(&hosts), tls.clone(), runtime.clone());
            let wanted = match settings.purpose {
                Purpose::Work => Wanted::Suitable(settings.schema.clone()),
                Purpose::Read => Wanted::Any,
            };
            Pool::builder(Connector { hosts, wanted, tls, runtime })
                .max_size(size)
                .runtime(deadpool::Runtime::Tokio1)
                .build()
                .map_err(|error| {
                    Error::unusable("a pool of connections cannot be made").because(error)
                })
        };
        Ok(Self {
            receiving: pool(settings.receiving)?,
            working: pool(settings.working)?,
            unanswered: Unanswered::none(),
            runtime: runtime.clone(),
            is_closed: AtomicBool::new(false),
            calls: Arc::default(),
        })
    }

    /// Fails after [`close`](Self::close).
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        if self.is_closed.load(Ordering::SeqCst) { Err(Error::closed()) } else { Ok(()) }
    }

    /// Begins a call.
    pub(crate) async fn call(&self) -> Result<OpenCall, Error> {
        // Closing waits for those in progress, and a call that came later would wait behind it.
        self.check_open()?;
        let call = Arc::clone(&self.calls).read_owned().await;
        self.check_open()?;
        Ok(call)
    }

    /// Waits for the calls in progress, and closes the connections: also if they take too long, or if this is dropped.
    pub(crate) async fn close(&self) -> Result<(), Error> {
        if self.is_closed.swap(true, Ordering::SeqCst) {
            return Err(Error::closed());
        }
        let _closes = ClosePools(self);
        let calls = timeout(CLOSE_TIMEOUT, self.calls.write()).await;
        calls.map(drop).map_err(|_| late("the calls in progress", CLOSE_TIMEOUT))
    }

    /// A connection of its own that receives the notifications of this channel. The channel is a plain name.
    pub(crate) async fn listen(
        &self,
        channel: &str,
        on_notify: impl FnMut(&str) + Send + 'static,
    ) -> Result<Client, Fault> {
        let session = self.working.manager().connect(on_notify).await?;
        let listen = format!("LISTEN {channel}");
        match timeout(CHECKOUT_TIMEOUT, session.client.batch_execute(&listen)).await {
            Ok(listens) => listens?,
            Err(_) => {
                session.task.abort();
                return Err(Fault::Ours(late("listening", CHECKOUT_TIMEOUT)));
            }
        }
        Ok(session.client)
    }

    /// Checks out a connection of a pool, for one transaction.
    pub(super) async fn check_out(&self, pool: PoolKind) -> Result<CheckedOut, Fault> {
        let pool = match pool {
            PoolKind::Receiving => &self.receiving,
            PoolKind::Working => &self.working,
        };
        // Making a connection has its own limits.
        let timeouts = Timeouts { wait: Some(CHECKOUT_TIMEOUT), create: None, recycle: None };
        let end = Instant::now() + CHECKOUT_TIMEOUT;
        loop {
            match pool.timeout_get(&timeouts).await {
                Ok(object) => return Ok(CheckedOut(Some(Connection::Pooled(object)))),
                Err(PoolError::Timeout(_)) => return Err(self.no_idle_connection().into()),
                // An open connection of the pool becomes free, or the server has room again.
                Err(PoolError::Backend(fault))
                    if fault.is_too_many_connections() && Instant::now() < end =>
                {
                    sleep(CHECKOUT_RETRY).await;
                }
                Err(PoolError::Backend(fault)) => return Err(fault),
                Err(_) => return Err(Error::closed().into()),
            }
        }
    }

    /// Opens a connection beside those of the pools, for one transaction that takes long.
    pub(super) async fn connect_dedicated(&self) -> Result<CheckedOut, Fault> {
        let session = self.working.manager().connect(|_| ()).await?;
        Ok(CheckedOut(Some(Connection::Dedicated(session))))
    }

    /// Keeps the connection of a COMMIT that is not answered, until it ends.
    pub(super) fn keep(&self, commit: impl Future<Output = Result<(), Fault>> + Send + 'static) {
        let waiting = self.unanswered.clone().wait(commit, self.working.clone());
        self.runtime.spawn(waiting);
    }

    fn no_idle_connection(&self) -> Error {
        match self.unanswered.count() {
            0 => late("waiting for a connection", CHECKOUT_TIMEOUT),
            count => Error::unavailable(format!(
                "no connection is free, and {count} wait for the answer to a COMMIT, as they do while a synchronous \
                 standby is missing: bring it back, or change synchronous_standby_names"
            )),
        }
    }
}

/// Closes the pools when it is dropped.
struct ClosePools<'a>(&'a Connections);

impl Drop for ClosePools<'_> {
    fn drop(&mut self) {
        self.0.receiving.close();
        self.0.working.close();
    }
}

/// A connection for one transaction. It is closed, unless it is checked in: what a failed or interrupted transaction left on
/// it is unknown.
pub(super) struct CheckedOut(Option<Connection>);

enum Connection {
    Pooled(Object<Connector>),
    Dedicated(Session),
}

impl CheckedOut {
    pub(super) fn session(&self) -> &Session {
        match self.0.as_ref().expect("it is here until it is checked in") {
            Connection::Pooled(object) => object,
            Connection::Dedicated(session) => session,
        }
    }

    /// Returns a pooled connection to its pool, and closes a dedicated one.
    pub(super) fn check_in(mut self) {
        drop(self.0.take());
    }
}

impl Drop for CheckedOut {
    fn drop(&mut self) {
        // Taken out of its pool. Its task would wait for answers that are due, without end if the server gives none.
        let session = match self.0.take() {
            None => return,
            Some(Connection::Pooled(object)) => Object::take(object),
            Some(Connection::Dedicated(session)) => session,
        };
        session.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections() -> Connections {
        let settings = PostgresSettings::new("postgresql://blog@127.0.0.1:1/blog").unwrap();
        Connections::new(&settings).unwrap()
    }

    fn says<T>(result: Result<T, impl Into<Error>>) -> String {
        result.map(drop).map_err(|error| error.into().to_string()).unwrap_err()
    }

    #[tokio::test(start_paused = true)]
    async fn closing_ends_although_a_call_does_not_and_calls_meanwhile_fail_at_once() {
        let connections = connections();
        let call = connections.call().await.unwrap();
        let (closed, later) = tokio::join!(biased; connections.close(), async {
            let began = tokio::time::Instant::now();
            let later = connections.call().await;
            (says(later), began.elapsed())
        });
        assert_eq!(later, ("the inbox is closed".to_owned(), Duration::ZERO));
        let late = "the calls in progress took longer than 15 seconds";
        assert_eq!(says(closed), late);
        assert_eq!(says(connections.check_out(PoolKind::Receiving).await), "the inbox is closed");
        drop(call);
        assert_eq!(says(connections.close().await), "the inbox is closed");
    }

    #[tokio::test(start_paused = true)]
    async fn closing_that_is_given_up_closes_the_connections_too() {
        let connections = connections();
        let _call = connections.call().await.unwrap();
        assert!(timeout(CHECKOUT_TIMEOUT, connections.close()).await.is_err());
        for pool in [PoolKind::Receiving, PoolKind::Working] {
            assert_eq!(says(connections.check_out(pool).await), "the inbox is closed");
        }
    }
}
