//! Who may try an application that cannot be reached.

use std::{
    sync::{Mutex as StdMutex, MutexGuard as StdMutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex, MutexGuard},
    time::{Instant, sleep_until, timeout},
};

/// While the application is absent, one task at a time tries it, with a pause between two tries.
#[derive(Debug)]
pub(super) struct CircuitBreaker {
    pause: Duration,
    /// When it was tried last. `None`: it is not absent.
    absent: StdMutex<Option<Instant>>,
    one: Mutex<()>,
}

/// The right to try. It is kept until the try has ended.
#[derive(Debug)]
pub(super) struct Pass<'a>(#[expect(dead_code, reason = "held")] Option<MutexGuard<'a, ()>>);

impl CircuitBreaker {
    pub(super) fn new(pause: Duration) -> Self {
        Self { pause, absent: StdMutex::new(None), one: Mutex::new(()) }
    }

    /// `None`: the application is absent, and another task tries it. Takes up to two pauses.
    pub(super) async fn enter(&self) -> Option<Pass<'_>> {
        if self.absent().is_none() {
            return Some(Pass(None));
        }
        let one = timeout(self.pause, self.one.lock()).await.ok()?;
        let tried = *self.absent();
        let Some(tried) = tried else { return Some(Pass(None)) };
        sleep_until(tried + self.pause).await;
        Some(Pass(Some(one)))
    }

    /// The application cannot be reached. Whether that is new.
    pub(super) fn close(&self) -> bool {
        self.absent().replace(Instant::now()).is_none()
    }

    /// The application can be reached.
    pub(super) fn open(&self) {
        self.absent().take();
    }

    fn absent(&self) -> StdMutexGuard<'_, Option<Instant>> {
        self.absent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
