//! The reference: what a store does, written a second time, on maps and without scripts. It uses the rules for rows.

#[path = "reference/job_table.rs"]
mod job_table;
#[path = "reference/ledger.rs"]
mod ledger;
#[path = "reference/ledger_tables.rs"]
mod ledger_tables;
#[path = "reference/prune.rs"]
mod prune;
#[path = "reference/quarantine.rs"]
mod quarantine;
#[path = "reference/record.rs"]
mod record;
#[path = "reference/tables.rs"]
mod tables;

use self::inbox::*;
use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use self::{
    ledger::shown,
    tables::{StoredEntry, Tables},
};

/// The reference, as a store.
#[derive(Default)]
pub(crate) struct Reference {
    clock: Clock,
    tables: Mutex<Tables>,
}

/// How long an answer to a call can come.
const MAX_CALL_TIME: Duration = Duration::from_secs(2 * 3600);

/// The names of the inbox.
mod inbox {
    pub(super) use article_webhook_inbox::{store::*, *};
}

/// A time as stores keep it.
fn rounded(time: SystemTime) -> SystemTime {
    from_millis(to_millis(time))
}

/// The items of a page, of which there may be one more than the limit, and where the next page begins.
fn page<T>(mut items: Vec<T>, limit: u32, id: impl Fn(&T) -> i64) -> (Vec<T>, Option<i64>) {
    let is_last = items.len() <= limit as usize;
    items.truncate(limit as usize);
    let end = items.last().map(id);
    (items, end.filter(|_| !is_last))
}

impl Reference {
    #[must_use]
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, tables: Mutex::default() }
    }

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

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("entries", &self.lock().entries.len()).finish()
    }
}

impl Store for Reference {
    fn now(&self) -> SystemTime {
        rounded(self.clock.now())
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let intent = arrival.intent.clone();
            Ok(tables.record(arrival, intent.as_deref(), now))
        })
    }

    fn quarantine(&self, quarantine: Quarantine) -> Pending<'_, Quarantined> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.quarantine(quarantine, now))
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let (mut claims, mut claiming) = (Claims::default(), Claiming::new(claim, now));
            if tables.paused_since.is_some() {
                claims.paused_since = tables.paused_since.clone();
                claims.next_due = Some(now + Claim::PAUSED_INTERVAL);
                return Ok(claims);
            }
            let mut due = tables.by_time(|row| row.is_due(now));
            due.sort_by_key(|id| claim.order(&tables.entries[id].row, *id));
            let due = due.into_iter();
            let (due, others): (Vec<_>, Vec<_>) =
                due.partition(|id| claim.events.includes(&tables.entries[id].key));
            claims.failures_wait = !others.is_empty();
            for id in due {
                let entry = tables.entries.get_mut(&id).expect("an entry that is due is there");
                let has_expired_lease = entry.row.has_expired_lease(now);
                let Some(decision) = claiming.decide(id, &mut entry.row) else { break };
                claims.expired += u32::from(has_expired_lease);
                match decision {
                    ClaimDecision::Discarded => claims.discarded.push(entry.key.clone()),
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
            tables.end_if_handled(&key.job_id);
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

    fn list(&self, filter: Filter) -> Pending<'_, Page<Entry>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let limit = (filter.limit as usize).saturating_add(1);
            let entries = tables.entries.iter().map(|(id, entry)| entry.entry(*id));
            let entries = entries.filter(|entry| filter.accepts(entry));
            let entries = match filter.order {
                ListOrder::NewestFirst => entries.rev().take(limit).collect(),
                _ => entries.take(limit).collect(),
            };
            let (items, next) = page(entries, filter.limit, |entry: &Entry| entry.id);
            Ok(Page::new(items, next))
        })
    }

    fn entries_of(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<Entry>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let of_jobs =
                tables.entries.iter().filter(|(_, entry)| jobs.contains(&entry.key.job_id));
            Ok(of_jobs.map(|(id, entry)| entry.entry(*id)).collect())
        })
    }

    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.get(&key).map(|(id, entry)| (entry.entry(id), entry.bodies.clone())))
        })
    }

    fn causes(&self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let rows = tables.entries.values().map(|entry| &entry.row);
            let of = |row: &&Row| match requeued_at {
                Some(at) => row.requeued_at == Some(at),
                None => row.state.needs_person(),
            };
            let mut causes: Vec<CauseCount> = Vec::new();
            for row in rows.filter(of) {
                let cause = row.cause.as_deref().map(|cause| cause_group(cause).into());
                let (state, since) = (row.state, row.since);
                match causes.iter_mut().find(|it| it.state == state && it.cause == cause) {
                    Some(it) => {
                        it.count += 1;
                        (it.first, it.last) = (it.first.min(since), it.last.max(since));
                    }
                    None => causes.push(CauseCount::new(state, cause, 1, since, since)),
                }
            }
            causes.sort_by(|a, b| {
                (b.count, a.first, &a.cause, a.state).cmp(&(a.count, b.first, &b.cause, b.state))
            });
            Ok(causes)
        })
    }

    fn hours(&self, since: SystemTime) -> Pending<'_, Vec<HourCount>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let hour = |time: SystemTime| (to_millis(time) / MILLIS_PER_HOUR, 1);
            let entries = || tables.entries.values();
            let arrived = entries().map(|entry| entry.received_at).filter(|time| *time >= since);
            let dead = entries().filter(|entry| entry.row.state == State::Dead);
            let died = dead.map(|entry| entry.row.since).filter(|time| *time >= since);
            Ok(HourCount::collect(arrived.map(hour).collect(), died.map(hour).collect()))
        })
    }

    fn requeue(
        &self,
        entries: Vec<(EntryKey, Option<State>)>,
        at: SystemTime,
    ) -> Pending<'_, Vec<bool>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let requeue = |(key, from): (EntryKey, Option<State>)| {
                if key.is_quarantine() {
                    return tables.read_again(&key, now);
                }
                let Some(entry) = tables.get_mut(&key) else { return false };
                let held = entry.bodies.iter().filter(|body| body.bytes.is_some()).count();
                let is_requeued = entry.row.requeue(from, held, at, now);
                tables.sync_with_entry(&key, now);
                is_requeued
            };
            Ok(entries.into_iter().map(requeue).collect())
        })
    }

    fn discard(&self, entries: Vec<EntryKey>, cause: String) -> Pending<'_, Vec<bool>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let discard = |key: EntryKey| {
                if key.is_quarantine() {
                    return tables.remove_key(&key);
                }
                let entry = tables.get_mut(&key);
                let is_discarded = entry.is_some_and(|entry| entry.row.discard(&*cause, now));
                tables.sync_with_entry(&key, now);
                is_discarded
            };
            Ok(entries.into_iter().map(discard).collect())
        })
    }

    fn pause(&self, by: Box<str>) -> Pending<'_, ()> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            tables.paused_since.get_or_insert(Since::new(now, Some(by)));
            Ok(())
        })
    }

    fn resume(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            self.open()?.0.paused_since = None;
            Ok(())
        })
    }

    fn paused_since(&self) -> Pending<'_, Option<Since>> {
        Box::pin(async move { Ok(self.open()?.0.paused_since.clone()) })
    }

    fn erase(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<u64>> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            let erase = |job_id: JobId| {
                tables.ledger.erase(&job_id);
                let of_job = tables.ids.iter().filter(|(key, _)| key.job_id == job_id);
                let ids: Vec<_> = of_job.map(|(_, id)| *id).collect();
                ids.iter().for_each(|id| tables.remove(*id));
                ids.len() as u64
            };
            Ok(jobs.into_iter().map(erase).collect())
        })
    }

    fn export(&self, _: Export) -> Pending<'_, Page<ExportLine>> {
        Box::pin(async { Err(Error::unusable("the reference exports nothing")) })
    }

    fn merge(&self, _: Merge) -> Pending<'_, Imported> {
        Box::pin(async { Err(Error::unusable("the reference merges nothing")) })
    }

    fn import(&self, lines: Vec<ExportLine>) -> Pending<'_, Imported> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.import(&lines, now))
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

    fn intend<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let known = tables.ledger.intent(name, now);
            if known.is_none() && tables.ledger.gaps_since.is_some() {
                let row = IntentRow::new(Duration::ZERO, now);
                return Ok(Intended::Known(row.into_intent(0, name.into(), now)));
            }
            let begin = || tables.ledger.begin_order(name, within, key, topic, now);
            Ok(known.map_or_else(begin, Intended::Known))
        })
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let known = tables.ledger.intent(name, now);
            let known = known.filter(|intent| !intent.state.may_be_ordered_again());
            let begin = || tables.ledger.begin_order(name, within, key, topic, now);
            Ok(known.map_or_else(begin, Intended::Known))
        })
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, Option<JobId>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let known = tables.ledger.job(&job_id).and_then(|job| job.intent.clone());
            if let Some(other) = known.as_deref().filter(|known| *known != name)
                && let Some((_, row)) = tables.ledger.intent_mut(other)
                && row.unbind(&job_id, now + MAX_CALL_TIME)
            {
                tables.unbind(&job_id, other, now);
            }
            let mut unbound = None;
            let is_expected = if let Some((_, row)) = tables.ledger.intent_mut(name) {
                let answered = row.answer((name, known.as_deref()), &job_id, now);
                unbound = answered.unbound;
                answered.is_expected
            } else {
                // An intent that is gone begins and ends now.
                let mut row = IntentRow::new(Duration::ZERO, now);
                row.answer((name, known.as_deref()), &job_id, now);
                tables.ledger.add_intent(name, row);
                true
            };
            if is_expected {
                let (reason, intent, key) = (Reason::Ordered, Some(name.into()), Some(key));
                let expect = Expect { reason, intent, key, ..Expect::job(job_id.clone(), at) };
                tables.expect(&expect, now);
                tables.confirm(&job_id, now);
            }
            let handled = unbound.and_then(|unbound| tables.unbind(&unbound, name, now));
            tables.ledger.bucket.accept_key(key);
            Ok(handled)
        })
    }

    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, CallRefused> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let ledger = &mut tables.ledger;
            let nothing = CallRefused { is_noted: false, handled: None };
            let Some((name, row)) = ledger.intents.get_mut(&lease.id) else { return Ok(nothing) };
            let (name, decision) = (name.clone(), row.not_ordered(lease, now));
            let unbound = match decision {
                NotOrdered::Remove { unbound } => {
                    ledger.remove_intent(lease.id);
                    unbound
                }
                NotOrdered::Unknown { unbound } => unbound.into_iter().collect(),
                NotOrdered::Nothing => return Ok(nothing),
            };
            let mut handled = None;
            for job_id in unbound {
                handled = tables.unbind(&job_id, &name, now).or(handled);
            }
            Ok(CallRefused { is_noted: true, handled })
        })
    }

    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let intent = tables.ledger.intents.get_mut(&lease.id);
            Ok(intent.is_some_and(|(_, row)| row.outcome_lost(lease, now)))
        })
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.ledger.intent_mut(name).is_some_and(|(_, row)| row.abandon(now)))
        })
    }

    fn note_gaps(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            tables.ledger.gaps_since.get_or_insert(now);
            Ok(())
        })
    }

    fn orders_checked(&self) -> Pending<'_, bool> {
        Box::pin(async move { Ok(self.open()?.0.ledger.gaps_since.take().is_some()) })
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(jobs.iter().map(|expect| tables.expect_of(expect, now)).collect())
        })
    }

    fn claim_polls(&self, claim: PollClaim) -> Pending<'_, Polls> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.ledger.claim(claim, now))
        })
    }

    fn settle_poll(
        &self,
        lease: PollLease,
        outcome: PollOutcome,
        key: u64,
    ) -> Pending<'_, PollSettled> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.settle_poll(lease, &outcome, key, now))
        })
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            tables.ledger.bucket.report(event, now);
            Ok(())
        })
    }

    fn bucket(&self) -> Pending<'_, Bucket> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.ledger.bucket)
        })
    }

    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.ledger.jobs.id(&job_id).and_then(|id| tables.ledger.shown(id)))
        })
    }

    fn jobs(&self, filter: JobFilter) -> Pending<'_, Page<ExpectedJob>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let jobs = tables.ledger.jobs.iter().filter_map(|(id, ..)| tables.ledger.shown(id));
            let jobs = jobs.filter(|job| filter.accepts(job));
            let jobs = jobs.take((filter.limit as usize).saturating_add(1)).collect();
            let (items, next) = page(jobs, filter.limit, |job: &ExpectedJob| job.id);
            Ok(Page::new(items, next))
        })
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.ledger.intent(name, now))
        })
    }

    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, Page<Intent>> {
        Box::pin(async move {
            let (tables, now) = self.open()?;
            let later = tables.ledger.intents.range(after.saturating_add(1)..);
            let intents = later
                .map(|(id, (name, row))| row.clone().into_intent(*id, name.clone(), now))
                .filter(|intent| state.is_none_or(|state| state == intent.state));
            let intents = intents.take((limit as usize).saturating_add(1)).collect();
            let (items, next) = page(intents, limit, |intent: &Intent| intent.id);
            Ok(Page::new(items, next))
        })
    }

    fn ledger_counts(&self) -> Pending<'_, LedgerCounts> {
        Box::pin(async move {
            let (tables, now) = self.open()?;
            let gaps_since = tables.ledger.gaps_since;
            let mut counts = LedgerCounts::default();
            counts.gaps_since = gaps_since;
            tables.ledger.jobs.iter().map(shown).for_each(|job| counts.add(&job, now));
            let states = tables.ledger.intents.values().map(|(_, row)| row.state_at(now));
            counts.unknown_intents =
                states.filter(|state| *state == IntentState::Unknown).count() as u64;
            Ok(counts)
        })
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            Ok(tables.ledger.prune(before, limit))
        })
    }
}
