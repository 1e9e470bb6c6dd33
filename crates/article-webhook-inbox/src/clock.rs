use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

/// The clock of a store: the system's clock, or one that a test moves.
///
/// A [`SqliteStore`](crate::SqliteStore) whose clock was set back by more than an hour, while it was open or since then,
/// shortens the waits that began before.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::Clock;
///
/// let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
/// clock.clone().advance(Duration::from_secs(370));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(370));
/// clock.set(SystemTime::UNIX_EPOCH);
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH);
///
/// assert!(std::panic::catch_unwind(|| Clock::system().advance(Duration::from_secs(1))).is_err());
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    /// `None`: the system's clock.
    stepped: Option<Arc<Mutex<SystemTime>>>,
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands still until a test moves it. Its clones show the same time.
    #[must_use]
    pub fn stepped(start: SystemTime) -> Self {
        Self { stepped: Some(Arc::new(Mutex::new(start))) }
    }

    /// The time. It runs backwards when the clock is set back.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        match &self.stepped {
            None => SystemTime::now(),
            Some(now) => *lock(now),
        }
    }

    /// Moves a stepped clock forward.
    ///
    /// # Panics
    ///
    /// This is the system's clock.
    pub fn advance(&self, by: Duration) {
        *self.moved() += by;
    }

    /// Sets a stepped clock, as an administrator or NTP does.
    ///
    /// # Panics
    ///
    /// This is the system's clock.
    pub fn set(&self, now: SystemTime) {
        *self.moved() = now;
    }

    fn moved(&self) -> MutexGuard<'_, SystemTime> {
        match &self.stepped {
            None => panic!("the system's clock cannot be moved: use `Clock::stepped`"),
            Some(now) => lock(now),
        }
    }
}

fn lock(now: &Mutex<SystemTime>) -> MutexGuard<'_, SystemTime> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.stepped.is_some() { "stepped" } else { "system" };
        f.debug_tuple("Clock").field(&format_args!("{kind}")).finish()
    }
}
