use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use article_inbox::Error;
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
        let call = Arc::clone(&self.calls).read_owned().await;
        self.check_open()?;
        Ok(call)
    }

    /// Waits for the calls in progress, and closes the connections.
    pub(crate) async fn close(&self) -> Result<(), Error> {
        if self.is_closed.swap(true, Ordering::SeqCst) {
            return Err(Error::closed());
        }
        drop(self.calls.write().await);
        self.receiving.close();
        self.working.close();
        Ok(())
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
