use std::time::{Duration, SystemTime};

use crate::{
    Error,
    call::{LedgerPruned, Prune, Pruned},
    store::Store,
};

/// The service's last attempt comes 370 seconds after the first. A job that is removed sooner is stored twice.
const MIN_RETENTION: Duration = Duration::from_secs(3600);

const DAY: Duration = Duration::from_secs(24 * 3600);
const YEAR: Duration = DAY.saturating_mul(365);

/// How long entries are kept after they ended. A worker removes what is older, once an hour, in batches.
///
/// | what | kept by default |
/// |---|---|
/// | bodies of done entries | 7 days |
/// | done entries without bodies, which identify repeated deliveries; unhandled entries | 30 days |
/// | dead entries | until an operator requeues or erases them, unless [`dead`](Self::dead) sets a limit |
/// | jobs of the ledger that ended, which an entry leaves when it is removed | a year, unless [`ledger`](Self::ledger) says otherwise |
/// | intents that were ordered, so that no order is made twice | for ever |
/// | corrupt entries | until they are delivered again, or an operator requeues, discards or erases them |
///
/// The file of a [`SqliteStore`](crate::SqliteStore) shrinks. A file that another program created shrinks only after
/// `PRAGMA auto_vacuum = INCREMENTAL; VACUUM`, run while the receiver is stopped. [`Inbox::erase`](crate::Inbox::erase)
/// erases one job at once, so that no file contains any of it.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_inbox::Retention;
///
/// let day = Duration::from_secs(24 * 3600);
/// assert_eq!(Retention::default(), Retention::new(7 * day, 30 * day)?);
/// assert_ne!(Retention::default(), Retention::default().dead(90 * day)?);
/// assert_eq!(Retention::default(), Retention::default().ledger(365 * day)?);
///
/// let error = Retention::new(day, Duration::from_secs(300)).unwrap_err();
/// assert_eq!(error.to_string(), "retention: expected at least an hour, as the service may deliver again, found 300s");
/// let error = Retention::default().ledger(day).unwrap_err();
/// assert_eq!(error.to_string(), "retention: expected a ledger that is kept as long as entries, at least 2592000s, found 86400s");
/// # Ok::<(), article_webhook_inbox::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    bodies: Duration,
    entries: Duration,
    /// `None`: for ever.
    dead: Option<Duration>,
    /// Not shorter than `entries`, so that a copy is a duplicate as long as anything is known about its job.
    ledger: Duration,
}

impl Retention {
    /// Keeps the bodies of done entries for the first duration. Keeps done entries without their bodies and unhandled entries
    /// for the second, and the ledger as long or for a year, whichever is longer.
    ///
    /// # Errors
    ///
    /// A duration is shorter than an hour: the service delivers again within 370 seconds.
    pub fn new(bodies: Duration, entries: Duration) -> Result<Self, Error> {
        check(bodies.min(entries))?;
        Ok(Self { bodies, entries, dead: None, ledger: entries.max(YEAR) })
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

    /// Removes jobs of the ledger this long after they ended.
    /// While a job is there, a later copy of its article is a duplicate, although the entry was removed, and a refused
    /// delivery does not let it be polled. So each job that was delivered leaves its id for that time. An open job
    /// and every intent is kept for ever.
    ///
    /// # Errors
    ///
    /// The duration is shorter than that of entries.
    pub fn ledger(self, ledger: Duration) -> Result<Self, Error> {
        if ledger < self.entries {
            let least = self.entries;
            return Err(Error::invalid(format!(
                "retention: expected a ledger that is kept as long as entries, at least {least:?}, found {ledger:?}"
            )));
        }
        Ok(Self { ledger, ..self })
    }

    /// Removes a batch of what is old. `None`: the clock was set a short time ago, and ages cannot be trusted yet.
    pub(super) async fn remove(self, store: &dyn Store) -> Result<Option<Removed>, Error> {
        // A store whose clock is a server's may know it only now.
        let health = store.health().await?;
        let now = store.now();
        if !health.has_steady_clock(now) {
            return Ok(None);
        }
        // If the clock shows less than this age, nothing is old.
        let before = |age| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let (bodies_before, entries_before) = (before(self.bodies), before(self.entries));
        let dead_before = self.dead.map(before);
        let prune = Prune { bodies_before, entries_before, dead_before, ..Prune::default() };
        let entries = store.prune(prune).await?;
        let ledger = store.prune_ledger(before(self.ledger), prune.limit).await?;
        Ok(Some(Removed { entries, ledger }))
    }
}

/// What a batch removed.
#[derive(Debug, Default)]
pub(super) struct Removed {
    pub(super) entries: Pruned,
    pub(super) ledger: LedgerPruned,
}

impl Removed {
    /// Whether another batch would remove more.
    pub(super) fn has_more(&self) -> bool {
        self.entries.more || self.ledger.more
    }
}

fn check(duration: Duration) -> Result<(), Error> {
    if duration >= MIN_RETENTION {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "retention: expected at least an hour, as the service may deliver again, found {duration:?}"
    )))
}

impl Default for Retention {
    /// Bodies for 7 days, entries for 30, the ledger for a year, and dead entries for ever.
    fn default() -> Self {
        Self { bodies: 7 * DAY, entries: 30 * DAY, dead: None, ledger: YEAR }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_removed_within_the_hour() {
        let hour = Duration::from_secs(3600);
        assert!(Retention::new(hour, hour).is_ok());
        let short = hour - Duration::from_nanos(1);
        assert!(Retention::new(short, hour).is_err());
        assert!(Retention::new(hour, short).is_err());
        assert!(Retention::default().dead(hour).is_ok());
        assert!(Retention::default().dead(short).is_err());
    }

    #[test]
    fn the_ledger_outlives_the_entries() {
        let hour = Duration::from_secs(3600);
        let long = Retention::new(hour, 2 * YEAR).unwrap();
        assert_eq!(long.ledger, 2 * YEAR);
        assert_eq!(long.ledger(2 * YEAR).unwrap(), long);
        assert!(long.ledger(2 * YEAR - Duration::from_nanos(1)).is_err());
        assert_eq!(Retention::default().ledger(30 * DAY).unwrap().ledger, 30 * DAY);
    }
}
