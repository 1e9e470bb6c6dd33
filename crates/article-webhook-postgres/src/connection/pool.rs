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
    time::timeout,
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
    settings::PostgresSettings,
};

/// How long a call waits for a connection.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long closing waits for calls in progress. All but a claim that reads everything, and a check, end before.
const CLOSING: Duration = Duration::from_secs(15);

/// Which connections serve a call. Neither side waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
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
        let (runtime, tls) = (Handle::current(), Tls::new(settings)?);
        let hosts = Arc::new(Hosts::of(&settings.config));
        let pool = |size| {
            let (hosts, tls, runtime) = (Arc::clone(&hosts), tls.clone(), runtime.clone());
            Pool::builder(Connector { hosts, wanted: Wanted::Fit, tls, runtime })
                .max_size(size)
                .runtime(deadpool::Runtime::Tokio1)
                .build()
                .map_err(|error| Error::unusable("a pool cannot be made").because(error))
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
        let calls = timeout(CLOSING, self.calls.write()).await;
        calls.map(drop).map_err(|_| late("the calls in progress", CLOSING))
    }

    /// A connection of its own that hears what is notified on this channel. The channel is a plain name.
    pub(crate) async fn listen(
        &self,
        channel: &str,
        hear: impl FnMut(&str) + Send + 'static,
    ) -> Result<Client, Fault> {
        let session = self.working.manager().connect(hear).await?;
        let listen = format!("LISTEN {channel}");
        match timeout(PATIENCE, session.client.batch_execute(&listen)).await {
            Ok(listens) => listens?,
            Err(_) => {
                session.task.abort();
                return Err(Fault::Ours(late("listening", PATIENCE)));
            }
        }
        Ok(session.client)
    }

    /// A connection, for one transaction.
    pub(super) async fn lend(&self, lane: Lane) -> Result<Lent, Fault> {
        let pool = match lane {
            Lane::Receiving => &self.receiving,
            Lane::Working => &self.working,
        };
        // Making a connection has its own limits.
        let timeouts = Timeouts { wait: Some(PATIENCE), create: None, recycle: None };
        match pool.timeout_get(&timeouts).await {
            Ok(object) => Ok(Lent(Some(Held::Pooled(object)))),
            Err(PoolError::Timeout(_)) => Err(self.none_is_free().into()),
            Err(PoolError::Backend(fault)) => Err(fault),
            Err(_) => Err(Error::closed().into()),
        }
    }

    /// A connection beside those of the pools, for one transaction that takes long.
    pub(super) async fn make(&self) -> Result<Lent, Fault> {
        let session = self.working.manager().connect(|_| ()).await?;
        Ok(Lent(Some(Held::Own(session))))
    }

    /// Keeps the connection of a COMMIT that is not answered, until it ends.
    pub(super) fn keep(&self, commit: impl Future<Output = Result<(), Fault>> + Send + 'static) {
        let waiting = self.unanswered.clone().wait(commit, self.working.clone());
        self.runtime.spawn(waiting);
    }

    fn none_is_free(&self) -> Error {
        match self.unanswered.count() {
            0 => late("waiting for a connection", PATIENCE),
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

/// A connection that is dropped, unless it is given back: what a failed or interrupted transaction left on it is unknown.
pub(super) struct Lent(Option<Held>);

enum Held {
    Pooled(Object<Connector>),
    Own(Session),
}

impl Lent {
    pub(super) fn session(&self) -> &Session {
        match self.0.as_ref().expect("it is here until it is given back") {
            Held::Pooled(object) => object,
            Held::Own(session) => session,
        }
    }

    /// Gives it back to its pool, or closes it if it is of none.
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Taken out of its pool. Its task would wait for answers that are due, without end if the server gives none.
        let session = match self.0.take() {
            None => return,
            Some(Held::Pooled(object)) => Object::take(object),
            Some(Held::Own(session)) => session,
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
        let told = "the calls in progress took longer than 15 seconds";
        assert_eq!(says(closed), told);
        assert_eq!(says(connections.lend(Lane::Receiving).await), "the inbox is closed");
        drop(call);
        assert_eq!(says(connections.close().await), "the inbox is closed");
    }

    #[tokio::test(start_paused = true)]
    async fn closing_that_is_given_up_closes_the_connections_too() {
        let connections = connections();
        let _call = connections.call().await.unwrap();
        assert!(timeout(PATIENCE, connections.close()).await.is_err());
        for lane in [Lane::Receiving, Lane::Working] {
            assert_eq!(says(connections.lend(lane).await), "the inbox is closed");
        }
    }
}
