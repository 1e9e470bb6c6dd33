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
};

use super::{
    connect::{Connector, Session},
    tls::Tls,
};
use crate::{
    fault::{late, of_connecting},
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
    pub(crate) runtime: Handle,
    is_closed: AtomicBool,
    /// Each call holds it for reading. Closing waits for all of them.
    calls: Arc<RwLock<()>>,
}

/// A call that closing waits for.
pub(crate) type Call = OwnedRwLockReadGuard<()>;

impl Connections {
    pub(crate) fn new(settings: &PostgresSettings) -> Result<Self, Error> {
        let (runtime, tls) = (Handle::current(), Tls::new()?);
        let pool = |size| {
            let (config, runtime) = (settings.config.clone(), runtime.clone());
            Pool::builder(Connector { config, tls: tls.clone(), runtime })
                .max_size(size)
                .runtime(deadpool::Runtime::Tokio1)
                .build()
                .map_err(|error| Error::unusable("a pool cannot be made").because(error))
        };
        Ok(Self {
            receiving: pool(settings.receiving)?,
            working: pool(settings.working)?,
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
    pub(crate) async fn call(&self) -> Result<Call, Error> {
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

    /// A connection, for one transaction.
    pub(super) async fn lend(&self, lane: Lane) -> Result<Lent, Error> {
        let pool = match lane {
            Lane::Receiving => &self.receiving,
            Lane::Working => &self.working,
        };
        let timeouts = Timeouts { wait: Some(PATIENCE), ..Timeouts::default() };
        match pool.timeout_get(&timeouts).await {
            Ok(object) => Ok(Lent(Some(object))),
            Err(PoolError::Timeout(_)) => Err(late("waiting for a connection", PATIENCE)),
            Err(PoolError::Backend(error)) => Err(of_connecting(&error)),
            Err(_) => Err(Error::closed()),
        }
    }
}

/// A connection that is dropped, unless it is given back: what a failed or interrupted transaction left on it is unknown.
pub(super) struct Lent(Option<Object<Connector>>);

impl Lent {
    pub(super) fn session(&self) -> &Session {
        self.0.as_deref().expect("it is here until it is given back")
    }

    /// Gives it back to its pool.
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Taken out of its pool, and closed with its client.
        drop(self.0.take().map(Object::take));
    }
}
