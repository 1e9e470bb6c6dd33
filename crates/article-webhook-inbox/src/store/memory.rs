mod job_table;
mod ledger;
mod ledger_tables;
mod prune;
mod record;
mod tables;

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use self::tables::{StoredEntry, Tables};
use super::store_trait::{Pending, Store};
use crate::{
    Body, Clock, ClockStep, Entry, EntryKey, Error, State,
    call::{
        Arrival, Claim, Claimed, Claims, Completion, Counts, Filter, Finding, Lease, ListOrder,
        Outcome, Page, Prune, Pruned, Recorded, Settled,
    },
    rules::{ClaimDecision, Claiming, JobRow, Row},
    timestamp::rounded,
};

/// A store that keeps everything in memory, for tests. It forgets everything when the process ends.
///
/// It is also the contract of [`Store`] as code: short to read, and the model that other stores are compared with.
///
/// ```
/// use article_webhook_inbox::{Digest, EntryKey, MemoryStore, Source};
/// use article_webhook_inbox::store::{Arrival, Recorded, Store};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let store = MemoryStore::default();
///     let arrival = Arrival {
///         key: EntryKey::article("job_1".parse()?),
///         source: Source::Webhook,
///         target: "default".into(),
///         intent: None,
///         digest: Digest::of(b"{}"),
///         bytes: "{}".into(),
///     };
///     assert_eq!(store.record(arrival.clone()).await?, Recorded::Stored);
///     assert_eq!(store.record(arrival.clone()).await?, Recorded::Duplicate);
///
///     store.close().await?;
///     assert_eq!(store.record(arrival).await.unwrap_err().to_string(), "the inbox is closed");
///     Ok(())
/// }
/// ```
#[derive(Default)]
pub struct MemoryStore {
    clock: Clock,
    /// Every call holds the lock from its first read to its last write, as its transaction.
    tables: Mutex<Tables>,
}

impl MemoryStore {
    /// An empty store with this clock.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, tables: Mutex::default() }
    }

    /// Sets the clock of this store, as a store does that follows the system's clock: what is left of each lease, pause and
    /// deadline stays the same.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use article_webhook_inbox::{Clock, ClockStep, MemoryStore, store::{Expect, Ledger, Store}};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let store = MemoryStore::new(Clock::stepped(SystemTime::UNIX_EPOCH + Duration::from_secs(7200)));
    ///     let (before, minute) = (store.now(), Duration::from_secs(60));
    ///     store.expect(vec![Expect::job("job_1".parse()?, before + minute)]).await?;
    ///     store.set_clock(ClockStep::Back(Duration::from_secs(3600)));
    ///     assert_eq!(store.now(), before - Duration::from_secs(3600));
    ///     let job = store.job("job_1".parse()?).await?.ok_or("it is expected")?;
    ///     assert_eq!(job.at, store.now() + minute, "still in a minute");
    ///     Ok(())
    /// }
    /// ```
    pub fn set_clock(&self, step: ClockStep) {
        let mut tables = self.lock();
        self.clock.follow(step);
        tables.entries.values_mut().for_each(|entry| _ = entry.row.shift_times(step));
        tables.ledger.follow_clock(step);
    }

    /// The tables, unless the store is closed, and the time in whole milliseconds.
    fn open(&self) -> Result<(MutexGuard<'_, Tables>, SystemTime), Error> {
        let tables = self.lock();
        if tables.is_closed {
            return Err(Error::closed());
        }
        Ok((tables, self.now()))
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
        rounded(self.clock.now())
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.record(arrival, now))
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let (mut claims, mut claiming) = (Claims::default(), Claiming::new(claim, now));
            let due = tables.by_time(|row| row.is_due(now)).into_iter();
            let (due, others): (Vec<_>, Vec<_>) =
                due.partition(|id| claim.events.includes(&tables.entries[id].key));
            claims.failures_wait = !others.is_empty();
            for id in due {
                let entry = tables.entries.get_mut(&id).expect("an entry that is due is there");
                let has_expired_lease = entry.row.has_expired_lease(now);
                let Some(decision) = claiming.decide(id, &mut entry.row) else { break };
                claims.expired += u32::from(has_expired_lease);
                match decision {
                    ClaimDecision::Buried => claims.buried.push(entry.key.clone()),
                    ClaimDecision::Leased { lease, runs_alone } => claims.claimed.push(Claimed {
                        lease,
                        key: entry.key.clone(),
                        attempt: entry.row.attempts,
                        received_at: entry.received_at,
                        runs_alone,
                        bodies: entry.bodies.clone(),
                    }),
                }
            }
            claims.alone_waits = claiming.alone_waits();
            let is_claimed = |id| claims.claimed.iter().any(|claimed| claimed.lease.id == id);
            let is_wanted = |id| claim.events.includes(&tables.entries[&id].key);
            let live = tables.times(&[State::Waiting, State::Leased]);
            let left = live.filter(|(_, id)| is_wanted(*id) && !is_claimed(*id));
            claims.next_due = left.map(|(at, _)| at).min();
            Ok(claims)
        })
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], by: Duration) -> Pending<'a, Vec<Lease>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let mut held = leases.to_vec();
            held.retain(|lease| {
                let entry = tables.entries.get_mut(&lease.id);
                entry.is_some_and(|entry| entry.row.extend(*lease, by, now))
            });
            Ok(held)
        })
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let Some(entry) = tables.entries.get_mut(&lease.id) else {
                return Ok(Settled::LostLease);
            };
            let settled = entry.row.settle(lease, &outcome, entry.bodies.len(), now);
            let key = entry.key.clone();
            tables.sync_with_entry(&key, now);
            Ok(settled)
        })
    }

    fn completion(&self, _: Lease) -> Result<Completion, Error> {
        drop(self.open()?);
        Err(Error::unusable("a store in memory knows no SQL: complete by returning Ok"))
    }

    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            Ok(tables.prune(&prune))
        })
    }

    fn counts(&self) -> Pending<'_, Counts> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.entries.values().map(|entry| (entry.row.state, 1)).collect())
        })
    }

    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        Box::pin(async move {
            let (tables, now) = self.open()?;
            let live = tables.times(&[State::Waiting, State::Leased]);
            Ok(live.map(|(at, _)| at).min().filter(|at| *at <= now))
        })
    }

    fn list(&self, filter: Filter) -> Pending<'_, Page> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let limit = (filter.limit as usize).saturating_add(1);
            let entries = tables.entries.iter().map(|(id, entry)| entry.entry(*id));
            let entries = entries.filter(|entry| filter.accepts(entry));
            let entries = match filter.order {
                ListOrder::OldestFirst => entries.take(limit).collect(),
                ListOrder::NewestFirst => entries.rev().take(limit).collect(),
            };
            Ok(Page::new(entries, &filter))
        })
    }

    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.get(&key).map(|(id, entry)| (entry.entry(id), entry.bodies.clone())))
        })
    }

    fn requeue(&self, key: EntryKey, from: Option<State>) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let Some(entry) = tables.get_mut(&key) else { return Ok(false) };
            let held = entry.bodies.iter().filter(|body| body.bytes.is_some()).count();
            let is_requeued = entry.row.requeue(from, held, now);
            tables.sync_with_entry(&key, now);
            Ok(is_requeued)
        })
    }

    fn bury(&self, key: EntryKey, cause: String) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let is_buried = tables.get_mut(&key).is_some_and(|entry| entry.row.bury(cause, now));
            tables.sync_with_entry(&key, now);
            Ok(is_buried)
        })
    }

    fn forget(&self, job_id: JobId) -> Pending<'_, u64> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            tables.ledger.forget(&job_id);
            let of_job = tables.ids.iter().filter(|(key, _)| key.job_id == job_id);
            let ids: Vec<_> = of_job.map(|(_, id)| *id).collect();
            ids.iter().for_each(|id| tables.remove(*id));
            Ok(ids.len() as u64)
        })
    }

    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let job = tables.ledger.job(&entry.key.job_id).filter(|_| entry.key.is_article());
            if tables.ids.contains_key(&entry.key) || job.is_some_and(JobRow::is_tombstone) {
                return Ok(false);
            }
            let (row, received_at) = (Row::import(&entry, now), rounded(entry.received_at));
            let bodies = bodies.into_iter();
            let bodies = bodies
                .map(|body| Body { received_at: rounded(body.received_at), ..body })
                .collect();
            let key = entry.key;
            tables.insert(StoredEntry { key: key.clone(), received_at, row, bodies });
            tables.sync_with_entry(&key, now);
            Ok(true)
        })
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let finding = |entry: &StoredEntry| match entry.row.state {
                State::Corrupt => Some(format!("{} is corrupt", entry.key)),
                _ if entry.bodies.iter().all(Body::is_intact) => None,
                _ => Some(format!("{}: a body is not what was received", entry.key)),
            };
            Ok(tables.entries.values().filter_map(finding).map(Finding::Damage).collect())
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
        assert_eq!(format!("{store:?}"), "MemoryStore { entries: 0 }");
    }

    #[test]
    fn a_store_in_memory_has_no_statement() {
        let error = MemoryStore::default().completion(Lease { id: 1, fence: 1 }).unwrap_err();
        assert_eq!(error.to_string(), "a store in memory knows no SQL: complete by returning Ok");
        assert!(!error.is_transient());
    }
}
