use std::{
    fmt,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use super::{
    Pending,
    maps::{MapTables, Maps},
    scripted::Run,
};
use crate::{
    Clock, Error,
    call::{Completion, Finding, Lease, StoreHealth},
    script,
    script::Script,
    timestamp::rounded,
};

/// A store in memory, for tests and for an application that builds without SQLite. It ends with its process.
///
/// ```
/// use article_webhook_inbox::{Inbox, MemoryStore};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let inbox = Inbox::new(MemoryStore::default());
///     assert_eq!(inbox.counts().await?.total(), 0);
///     Ok(())
/// }
/// ```
pub struct MemoryStore {
    clock: Clock,
    maps: Mutex<Option<Maps>>,
}

impl MemoryStore {
    /// An empty store on a clock.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, maps: Mutex::new(Some(Maps::default())) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Maps>> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<S: Script>(&self, script: &S) -> Result<S::Output, Error> {
        let (mut maps, now) = (self.lock(), Run::now(self));
        let maps = maps.as_mut().ok_or_else(Error::closed)?;
        pollster::block_on(script.run(&mut MapTables { maps, now }))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Clock::system())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Run for MemoryStore {
    fn now(&self) -> SystemTime {
        rounded(self.clock.now())
    }

    fn write<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        Box::pin(async move { self.run(&script) })
    }

    fn read<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        self.write(script)
    }

    fn completion(&self, _: Lease) -> Result<Completion, Error> {
        self.lock().as_ref().ok_or_else(Error::closed)?;
        Err(Error::unusable("a store in memory knows no SQL: complete by returning Ok"))
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move {
            let found = self.run(&script::Check)?;
            Ok(found.into_iter().map(Finding::Damage).collect())
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(ready(self.lock().as_ref().map(drop).ok_or_else(Error::closed)))
    }

    fn health(&self) -> Pending<'_, StoreHealth> {
        let health = self.lock().as_ref().map(|_| StoreHealth::default());
        Box::pin(ready(health.ok_or_else(Error::closed)))
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(ready(self.lock().take().map(drop).ok_or_else(Error::closed)))
    }
}
