mod tables;

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use super::{
    Arrival, Claim, Claimed, Claims, Completion, Counts, Filter, Hint, Lease, Outcome, Page,
    Pending, Prune, Pruned, Recorded, Settled, Store,
};
use crate::{
    Body, Clock, Entry, Error, Key, State,
    rules::entry::{Kept, Taken, millis},
};

use tables::Tables;

/// Keeps entries in memory: the reference that other stores are compared with, and a store for unit tests.
///
/// It is gone with the process, so nothing that is acknowledged out of it is promised to anybody.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::{Arrival, Recorded}};
///
/// let store = MemoryStore::new(Clock::system());
/// let arrival = Arrival {
///     key: Key::article("job_1".parse()?), source: Source::Api, target: "default".into(), intent: None,
///     digest: Digest::of(b"{}"), bytes: "{}".into(),
/// };
/// assert_eq!(store.record(arrival.clone()).await?, Recorded::Stored);
/// assert_eq!(store.record(arrival.clone()).await?, Recorded::Duplicate);
///
/// store.close().await?;
/// assert!(store.record(arrival).await.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Default)]
pub struct MemoryStore {
    clock: Clock,
    /// Every call holds the lock from its first look to its last change: that is its transaction.
    tables: Mutex<Tables>,
}

impl MemoryStore {
    /// An empty store that reads the time there.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use article_inbox::{Clock, MemoryStore};
    ///
    /// let store = MemoryStore::new(Clock::stepped(SystemTime::UNIX_EPOCH));
    /// assert_eq!(format!("{store:?}"), "MemoryStore { entries: 0 }");
    /// ```
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, tables: Mutex::default() }
    }

    /// The tables, if they may still be used, and the time to the millisecond.
    fn open(&self) -> Result<(MutexGuard<'_, Tables>, SystemTime), Error> {
        let tables = self.lock();
        if tables.is_closed {
            return Err(Error::closed());
        }
        Ok((tables, millis(self.clock.now())))
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("entries", &self.lock().entries.len()).finish()
    }
}

impl Store for MemoryStore {
    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            if let Some(kept) = tables.of_mut(&arrival.key) {
                return Ok(kept.record(arrival, now));
            }
            let id = tables.next_id();
            tables.insert(Kept::new(id, arrival, now));
            Ok(Recorded::Stored)
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let mut claims = Claims::default();
            for id in tables.due(now).into_iter().take(claim.limit as usize) {
                let kept = tables.entries.get_mut(&id).expect("what is due is there");
                claims.expired += u32::from(kept.entry.state == State::Leased);
                match kept.claim(&claim, now) {
                    Taken::Buried => claims.buried.push(kept.entry.key.clone()),
                    Taken::Leased(lease) => claims.claimed.push(Claimed {
                        lease,
                        key: kept.entry.key.clone(),
                        attempt: kept.entry.attempts,
                        received_at: kept.entry.received_at,
                        bodies: kept.bodies.clone(),
                    }),
                }
            }
            let is_claimed = |id| claims.claimed.iter().any(|claimed| claimed.lease.id == id);
            let entries = tables.entries.values().map(|kept| &kept.entry);
            let live =
                entries.filter(|entry| matches!(entry.state, State::Waiting | State::Leased));
            claims.next_due =
                live.filter(|entry| !is_claimed(entry.id)).map(|entry| entry.at).min();
            Ok(claims)
        })
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], by: Duration) -> Pending<'a, Vec<Lease>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let mut held = leases.to_vec();
            held.retain(|lease| {
                tables.entries.get_mut(&lease.id).is_some_and(|kept| kept.extend(*lease, by, now))
            });
            Ok(held)
        })
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let kept = tables.entries.get_mut(&lease.id);
            Ok(kept.map_or(Settled::LostLease, |kept| kept.settle(lease, outcome, now)))
        })
    }

    fn completion(&self, _: Lease) -> Result<Completion, Error> {
        drop(self.open()?);
        Err(Error::unusable("a store in memory knows no SQL: complete by returning Ok"))
    }

    fn hint(&self, hint: Hint) -> Pending<'_, ()> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            let hint = Hint { at: millis(hint.at), ..hint };
            tables.hints.entry(hint.job_id.clone()).or_insert(hint);
            Ok(())
        })
    }

    fn hints(&self, limit: u32) -> Pending<'_, Vec<Hint>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let mut hints = tables.hints_by_age();
            hints.truncate(limit as usize);
            Ok(hints)
        })
    }

    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            let (limit, mut pruned) = (prune.limit, Pruned::default());
            let (bodies_before, entries_before) =
                (millis(prune.bodies_before), millis(prune.entries_before));

            for id in tables.ended(&[State::Done], bodies_before) {
                let bodies =
                    tables.entries.get_mut(&id).map(|kept| &mut kept.bodies).into_iter().flatten();
                for body in
                    bodies.filter(|body| body.received_at <= bodies_before && body.bytes.is_some())
                {
                    if pruned.bodies == limit {
                        pruned.more = true;
                        break;
                    }
                    body.bytes = None;
                    pruned.bodies += 1;
                }
            }
            for id in tables.ended(&[State::Done, State::Unhandled], entries_before) {
                if pruned.entries == limit {
                    pruned.more = true;
                    break;
                }
                tables.remove(id);
                pruned.entries += 1;
            }
            for hint in
                tables.hints_by_age().into_iter().take_while(|hint| hint.at < entries_before)
            {
                if pruned.hints == limit {
                    pruned.more = true;
                    break;
                }
                tables.hints.remove(&hint.job_id);
                pruned.hints += 1;
            }
            Ok(pruned)
        })
    }

    fn counts(&self) -> Pending<'_, Counts> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.entries.values().map(|kept| (kept.entry.state, 1)).collect())
        })
    }

    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        Box::pin(async move {
            let (tables, now) = self.open()?;
            let waiting = tables.entries.values().filter(|kept| kept.entry.state == State::Waiting);
            Ok(waiting.map(|kept| kept.entry.at).min().filter(|at| *at <= now))
        })
    }

    fn list(&self, filter: Filter) -> Pending<'_, Page> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let entries = tables.entries.values().map(|kept| &kept.entry).filter(|entry| {
                entry.id > filter.after
                    && filter.state.is_none_or(|state| state == entry.state)
                    && filter.event.as_ref().is_none_or(|event| *event == entry.key.event)
                    && filter.job_id.as_ref().is_none_or(|job_id| *job_id == entry.key.job_id)
            });
            let mut entries: Vec<_> =
                entries.take((filter.limit as usize).saturating_add(1)).cloned().collect();
            let is_last = entries.len() <= filter.limit as usize;
            entries.truncate(filter.limit as usize);
            let end = entries.last().map_or(filter.after, |entry| entry.id);
            Ok(Page { entries, next: (!is_last).then_some(end) })
        })
    }

    fn show(&self, key: Key) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.of(&key).map(|kept| (kept.entry.clone(), kept.bodies.clone())))
        })
    }

    fn requeue(&self, key: Key) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.of_mut(&key).is_some_and(|kept| kept.requeue(now)))
        })
    }

    fn bury(&self, key: Key, cause: String) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.of_mut(&key).is_some_and(|kept| kept.bury(cause, now)))
        })
    }

    fn forget(&self, job_id: JobId) -> Pending<'_, u64> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            tables.hints.remove(&job_id);
            let ids: Vec<_> = tables
                .ids
                .iter()
                .filter(|(key, _)| key.job_id == job_id)
                .map(|(_, id)| *id)
                .collect();
            ids.iter().for_each(|id| tables.remove(*id));
            Ok(ids.len() as u64)
        })
    }

    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            if tables.ids.contains_key(&entry.key) {
                return Ok(false);
            }
            let id = tables.next_id();
            tables.insert(Kept::import(id, entry, bodies, now));
            Ok(true)
        })
    }

    fn check(&self) -> Pending<'_, Vec<String>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let damaged =
                tables.entries.values().filter(|kept| !kept.bodies.iter().all(Body::is_intact));
            Ok(damaged
                .map(|kept| format!("{}: a body is not what was received", kept.entry.key))
                .collect())
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(async move { self.open().map(drop) })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            tables.is_closed = true;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_store_fails_every_call() {
        let store = MemoryStore::default();
        store.close().await.unwrap();
        assert_eq!(store.probe().await.unwrap_err().to_string(), "the inbox is closed");
        assert_eq!(store.close().await.unwrap_err().to_string(), "the inbox is closed");
    }

    #[test]
    fn a_store_in_memory_has_no_statement() {
        let error = MemoryStore::default().completion(Lease { id: 1, fence: 1 }).unwrap_err();
        assert_eq!(error.to_string(), "a store in memory knows no SQL: complete by returning Ok");
        assert!(!error.is_transient());
    }
}
