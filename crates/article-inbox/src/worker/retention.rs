use std::time::Duration;

use crate::Error;

/// The service's last attempt comes 370 seconds after the first. A job that is forgotten sooner is stored twice.
const SHORTEST: Duration = Duration::from_secs(3600);

/// How long entries are kept after they ended. A worker removes what is older, once an hour, in batches.
///
/// | what | kept by default |
/// |---|---|
/// | bodies of done entries | 7 days |
/// | done entries without bodies, which identify repeated deliveries; unhandled entries | 30 days |
/// | dead entries | until an operator requeues or forgets them, unless [`dead`](Self::dead) sets a limit |
/// | corrupt entries | until they are delivered again, or an operator requeues, buries or forgets them |
///
/// The file of a [`SqliteStore`](crate::SqliteStore) shrinks. A file that another program created shrinks only after
/// `PRAGMA auto_vacuum = INCREMENTAL; VACUUM`, run while the receiver is stopped. [`Inbox::forget`](crate::Inbox::forget)
/// erases one job at once, so that no file contains any of it.
///
/// ```
/// use std::time::Duration;
/// use article_inbox::Retention;
///
/// let day = Duration::from_secs(24 * 3600);
/// assert_eq!(Retention::default(), Retention::new(7 * day, 30 * day)?);
/// assert_ne!(Retention::default(), Retention::default().dead(90 * day)?);
///
/// let error = Retention::new(day, Duration::from_secs(300)).unwrap_err();
/// assert_eq!(error.to_string(), "retention: expected at least an hour, as the service may deliver again, found 300s");
/// # Ok::<(), article_inbox::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub(super) bodies: Duration,
    pub(super) entries: Duration,
    /// `None`: for ever.
    pub(super) dead: Option<Duration>,
}

impl Retention {
    /// Keeps the bodies of done entries for the first duration. Keeps done entries without their bodies, unhandled entries
    /// for the second.
    ///
    /// # Errors
    ///
    /// A duration is shorter than an hour: the service delivers again within 370 seconds.
    pub fn new(bodies: Duration, entries: Duration) -> Result<Self, Error> {
        check(bodies.min(entries))?;
        Ok(Self { bodies, entries, dead: None })
    }

    /// Removes dead entries with their bodies this long after they died. Without this they are kept.
    ///
    /// # Errors
    ///
    /// The duration is shorter than an hour: the service delivers again within 370 seconds.
    pub fn dead(self, dead: Duration) -> Result<Self, Error> {
        check(dead)?;
        Ok(Self { dead: Some(dead), ..self })
    }
}

fn check(duration: Duration) -> Result<(), Error> {
    if duration >= SHORTEST {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "retention: expected at least an hour, as the service may deliver again, found {duration:?}"
    )))
}

impl Default for Retention {
    /// Bodies for 7 days, entries for 30, and dead entries for ever.
    fn default() -> Self {
        let day = Duration::from_secs(24 * 3600);
        Self { bodies: 7 * day, entries: 30 * day, dead: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_forgotten_within_the_hour() {
        let hour = Duration::from_secs(3600);
        assert!(Retention::new(hour, hour).is_ok());
        let short = hour - Duration::from_nanos(1);
        assert!(Retention::new(short, hour).is_err());
        assert!(Retention::new(hour, short).is_err());
        assert!(Retention::default().dead(hour).is_ok());
        assert!(Retention::default().dead(short).is_err());
    }
}
