use std::{cmp::Reverse, collections::BTreeMap, future::ready, time::SystemTime};

use article_webhook::JobId;
use bytes::Bytes;

use crate::{
    Body, EntryKey, Error, State,
    call::{
        CauseCount, Counts, HourCount, IntentState, LedgerCounts, ListOrder, MILLIS_PER_HOUR, Since,
    },
    rules::{
        BodyBytes, BodyRow, Bucket, Change, EntryRows, IntentRow, JobRow, JobRows, Row, Tracked,
    },
    script::{
        Entries, Expected, IntentRows, Intents, Jobs, LoadedBody, Mark, Next, Pending, Tables,
    },
    timestamp::to_millis,
};

/// The tables in memory, for an application that builds without SQLite. Whatever is selected is looked for in all rows.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    jobs: BTreeMap<JobId, JobRows>,
    /// The bytes of bodies, by their digests in their entries.
    bytes: BTreeMap<(i64, [u8; 32]), Bytes>,
    intents: BTreeMap<i64, (Box<str>, IntentRow)>,
    bucket: Bucket,
    marks: [Option<Since>; 3],
    last_id: i64,
}

/// The maps, while a script runs on them.
pub(crate) struct MapTables<'a> {
    pub(crate) maps: &'a mut Maps,
    pub(crate) now: SystemTime,
}

impl Maps {
    fn new_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    fn entries(&self) -> impl Iterator<Item = (&JobRows, &EntryRows, &Row)> {
        self.jobs.values().flat_map(|job| {
            job.entries.iter().filter_map(move |entry| Some((job, entry, entry.row.get()?)))
        })
    }

    fn expected(&self) -> impl Iterator<Item = (&JobId, i64, &JobRow)> {
        self.jobs
            .values()
            .filter_map(|job| Some((&job.job_id, job.expected.id, job.expected.get()?)))
    }

    fn save(&mut self, job: &JobRows) {
        let mut saved = JobRows::none(job.job_id.clone());
        for entry in &job.entries {
            let row = self.saved(&entry.row);
            if row.get().is_none() {
                self.bytes.retain(|(of, _), _| *of != entry.row.id);
                continue;
            }
            let bodies = entry.bodies.iter().filter_map(Tracked::get);
            let bodies = bodies.enumerate().map(|(number, body)| {
                self.save_bytes(row.id, body, entry);
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                Tracked::stored(number + 1, BodyRow { bytes: kept(&body.bytes), ..body.clone() })
            });
            let bodies = bodies.collect();
            saved.entries.push(EntryRows { row, bodies, ..entry.clone() });
        }
        saved.expected = self.saved(&job.expected);
        if saved.expected.get().is_none() && saved.entries.is_empty() {
            self.jobs.remove(&job.job_id);
        } else {
            self.jobs.insert(job.job_id.clone(), saved);
        }
    }

    fn saved<T: Clone + PartialEq>(&mut self, row: &Tracked<T>) -> Tracked<T> {
        match (row.change(), row.get()) {
            (Change::Insert(new), _) => Tracked::stored(self.new_id(), new.clone()),
            (_, Some(kept)) => Tracked::stored(row.id, kept.clone()),
            (_, None) => Tracked::none(),
        }
    }

    fn save_bytes(&mut self, id: i64, body: &BodyRow, entry: &EntryRows) {
        let key = (id, *body.digest.as_bytes());
        // Another body of the entry may have the same bytes.
        let is_held =
            |other: &BodyRow| other.digest == body.digest && other.bytes != BodyBytes::Removed;
        match &body.bytes {
            BodyBytes::New(bytes) => drop(self.bytes.insert(key, bytes.clone())),
            BodyBytes::Removed if !entry.bodies().any(is_held) => drop(self.bytes.remove(&key)),
            BodyBytes::Removed | BodyBytes::Stored(_) => {}
        }
    }

    fn bodies(&self, id: i64) -> Vec<LoadedBody> {
        let entry = self.entries().find(|(_, entry, _)| entry.row.id == id);
        let bodies = entry.into_iter().flat_map(|(_, entry, _)| entry.bodies());
        let body = |body: &BodyRow| Body {
            received_at: body.received_at,
            source: body.source,
            target: body.target.clone(),
            intent: body.intent.clone(),
            digest: body.digest,
            bytes: match body.bytes {
                BodyBytes::Removed => None,
                _ => self.bytes.get(&(id, *body.digest.as_bytes())).cloned(),
            },
        };
        bodies.map(|row| LoadedBody { body: body(row), damage: None }).collect()
    }
}

fn kept(bytes: &BodyBytes) -> BodyBytes {
    match bytes {
        BodyBytes::New(bytes) => BodyBytes::Stored(bytes.len() as u64),
        other => other.clone(),
    }
}

/// The ids of rows in the order of their keys, as far as the limit.
fn sorted<K: Ord>(mut rows: Vec<(K, i64)>, limit: u32) -> Vec<i64> {
    rows.sort_unstable();
    rows.into_iter().map(|(_, id)| id).take(limit as usize).collect()
}

impl MapTables<'_> {
    fn due(&self, is_wanted: impl Fn(&EntryKey) -> bool) -> Vec<(SystemTime, i64)> {
        let is_live = |row: &Row| matches!(row.state, State::Waiting | State::Leased);
        let live = self
            .maps
            .entries()
            .filter(|(job, entry, row)| is_live(row) && is_wanted(&job.key(entry)));
        live.map(|(_, entry, row)| (row.at, entry.row.id)).collect()
    }

    fn select(&self, which: Entries) -> Vec<i64> {
        let by_time = |is_selected: &dyn Fn(&EntryRows, &Row) -> bool, limit| {
            let selected = self.maps.entries().filter(|(_, entry, row)| is_selected(entry, row));
            sorted(selected.map(|(_, entry, row)| (row.at, entry.row.id)).collect(), limit)
        };
        match which {
            Entries::Due(claim) => {
                let entries = self.maps.entries().filter(|(job, entry, row)| {
                    claim.events.includes(&job.key(entry)) && row.is_due(self.now)
                });
                let due =
                    entries.map(|(_, entry, row)| (claim.order(row, entry.row.id), entry.row.id));
                sorted(due.collect(), claim.limit)
            }
            Entries::Leased => by_time(&|_, row| row.state == State::Leased, u32::MAX),
            Entries::WaitingBeyond(time) => {
                by_time(&|_, row| row.state == State::Waiting && row.at > time, u32::MAX)
            }
            Entries::DoneWithBytes { before, limit } => by_time(
                &|entry, row| row.state == State::Done && row.at < before && entry.held() > 0,
                limit,
            ),
            Entries::Ended { state, before, limit } => {
                by_time(&|_, row| row.state == state && row.at < before, limit)
            }
            Entries::Listed(filter) => {
                let entries = self.maps.entries();
                let entries = entries.filter_map(|(job, entry, _)| entry.entry(&job.job_id));
                let mut ids: Vec<_> =
                    entries.filter(|entry| filter.accepts(entry)).map(|entry| entry.id).collect();
                ids.sort_unstable();
                if filter.order == ListOrder::NewestFirst {
                    ids.reverse();
                }
                ids.truncate(filter.limit.saturating_add(1) as usize);
                ids
            }
        }
    }

    fn select_expected(&self, which: Expected) -> Vec<i64> {
        let by_time = |is_selected: &dyn Fn(&JobRow) -> bool, limit| {
            let selected = self.maps.expected().filter(|(_, _, row)| is_selected(row));
            sorted(selected.map(|(_, id, row)| (row.at, id)).collect(), limit)
        };
        match which {
            Expected::Due { limit } => by_time(&|row| row.is_due(self.now), limit),
            Expected::Restarted => by_time(&|row| row.state.is_open(), u32::MAX),
            Expected::Ended { before, limit } => by_time(&|row| row.is_pruned(before), limit),
            Expected::Listed(filter) => {
                let jobs = self.maps.expected();
                let jobs = jobs.map(|(job_id, id, row)| row.clone().into_job(id, job_id.clone()));
                let ids = jobs.filter(|job| filter.accepts(job)).map(|job| (job.id, job.id));
                sorted(ids.collect(), filter.limit.saturating_add(1))
            }
        }
    }

    fn select_intents(&self, which: Intents) -> Vec<IntentRows> {
        let rows = |id: &i64, (name, row): &(Box<str>, IntentRow)| IntentRows {
            name: name.clone(),
            row: Tracked::stored(*id, row.clone()),
        };
        let all = |is_selected: &dyn Fn(&IntentRow) -> bool| {
            let selected = self.maps.intents.iter().filter(|(_, (_, row))| is_selected(row));
            selected.map(|(id, intent)| rows(id, intent)).collect()
        };
        match which {
            Intents::Named(names) => {
                let named = |name: Box<str>| {
                    let found = self.maps.intents.iter().find(|(_, (known, _))| *known == name);
                    let rows = found.map(|(id, intent)| rows(id, intent));
                    rows.unwrap_or(IntentRows { name, row: Tracked::none() })
                };
                names.into_iter().map(named).collect()
            }
            Intents::Of(id) => {
                self.maps.intents.get(&id).map(|intent| rows(&id, intent)).into_iter().collect()
            }
            Intents::MayHaveOrdered(jobs) => {
                let intents = self.maps.intents.iter().filter(|(_, (name, row))| {
                    let mut jobs = jobs.iter();
                    jobs.any(|(job_id, intent)| {
                        row.may_have_ordered(name, job_id, intent.as_deref())
                    })
                });
                intents.map(|(id, intent)| rows(id, intent)).collect()
            }
            Intents::Ordering => all(&|row| row.state == IntentState::Ordering),
            Intents::Listed { state, after, limit } => {
                let later = self.maps.intents.range(after.saturating_add(1)..);
                let in_state =
                    |row: &IntentRow| state.is_none_or(|state| state == row.state_at(self.now));
                let listed = later.filter(|(_, (_, row))| in_state(row)).take(limit as usize);
                listed.map(|(id, intent)| rows(id, intent)).collect()
            }
        }
    }
}

/// The answer of a call, which is ready.
fn answer<'a, T: Send + 'a>(value: T) -> Pending<'a, T> {
    Box::pin(ready(Ok::<T, Error>(value)))
}

impl Tables for MapTables<'_> {
    fn now(&self) -> SystemTime {
        self.now
    }

    fn jobs(&mut self, which: Jobs) -> Pending<'_, Vec<JobRows>> {
        let maps = &self.maps;
        let some = |is_selected: &dyn Fn(&JobRows) -> bool| {
            maps.jobs.values().filter(|job| is_selected(job)).cloned().collect()
        };
        answer(match which {
            Jobs::Named(mut names) => {
                names.sort_unstable();
                names.dedup();
                let job = |name: JobId| maps.jobs.get(&name).cloned();
                names
                    .into_iter()
                    .map(|name| job(name.clone()).unwrap_or_else(|| JobRows::none(name)))
                    .collect()
            }
            Jobs::OfEntries(ids) => some(&|job| ids.iter().any(|id| job.entry_of(*id).is_some())),
            Jobs::OfExpected(ids) => {
                some(&|job| job.expected.get().is_some() && ids.contains(&job.expected.id))
            }
        })
    }

    fn save<'a>(&'a mut self, jobs: &'a mut [JobRows]) -> Pending<'a, ()> {
        jobs.iter().for_each(|job| self.maps.save(job));
        answer(())
    }

    fn entries(&mut self, which: Entries) -> Pending<'_, Vec<i64>> {
        answer(self.select(which))
    }

    fn expected(&mut self, which: Expected) -> Pending<'_, Vec<i64>> {
        answer(self.select_expected(which))
    }

    fn next(&mut self, which: Vec<Next>) -> Pending<'_, Vec<Option<SystemTime>>> {
        let next = |which| match which {
            Next::Entry(events, left_out) => {
                let live = self.due(|key| events.includes(key)).into_iter();
                live.filter(|(_, id)| !left_out.contains(id)).map(|(at, _)| at).min()
            }
            Next::Failure => self.due(EntryKey::is_failure).into_iter().map(|(at, _)| at).min(),
            Next::Poll(left_out) => {
                let open = self
                    .maps
                    .expected()
                    .filter(|(_, id, row)| row.state.is_open() && !left_out.contains(id));
                open.map(|(_, _, row)| row.at).min()
            }
        };
        answer(which.into_iter().map(next).collect())
    }

    fn bodies(&mut self, entries: Vec<i64>) -> Pending<'_, Vec<Vec<LoadedBody>>> {
        answer(entries.into_iter().map(|id| self.maps.bodies(id)).collect())
    }

    fn intents(&mut self, which: Intents) -> Pending<'_, Vec<IntentRows>> {
        answer(self.select_intents(which))
    }

    fn save_intents<'a>(&'a mut self, intents: &'a mut [IntentRows]) -> Pending<'a, ()> {
        for intent in intents {
            let saved = self.maps.saved(&intent.row);
            match saved.get() {
                Some(row) => {
                    let named = (intent.name.clone(), row.clone());
                    self.maps.intents.insert(saved.id, named);
                }
                None => drop(self.maps.intents.remove(&intent.row.id)),
            }
            intent.row = saved;
        }
        answer(())
    }

    fn bucket(&mut self) -> Pending<'_, Bucket> {
        answer(self.maps.bucket)
    }

    fn save_bucket(&mut self, bucket: Bucket) -> Pending<'_, ()> {
        self.maps.bucket = bucket;
        answer(())
    }

    fn since(&mut self, mark: Mark) -> Pending<'_, Option<Since>> {
        answer(self.maps.marks[mark as usize].clone())
    }

    fn set_since(&mut self, mark: Mark, since: Option<Since>) -> Pending<'_, ()> {
        self.maps.marks[mark as usize] = since;
        answer(())
    }

    fn quarantine_cost(&mut self) -> Pending<'_, u64> {
        let entries = self.maps.entries();
        let quarantined = entries.filter(|(_, _, row)| row.state == State::Quarantined);
        answer(quarantined.map(|(_, entry, _)| entry.quarantine_cost()).sum())
    }

    fn counts(&mut self) -> Pending<'_, Counts> {
        answer(self.maps.entries().map(|(_, _, row)| (row.state, 1)).collect())
    }

    fn causes(&mut self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>> {
        let mut causes = BTreeMap::<(&str, Option<String>), CauseCount>::new();
        let entries = self.maps.entries().map(|(_, _, row)| row);
        for row in entries.filter(|row| match requeued_at {
            Some(at) => row.requeued_at == Some(at),
            None => row.state.needs_person(),
        }) {
            let (state, cause, since) = (row.state, row.group(), row.since);
            let key = (state.as_str(), cause.clone());
            let cause = cause.map(Into::into);
            let new = CauseCount { state, cause, count: 0, first: since, last: since };
            let count = causes.entry(key).or_insert(new);
            count.count += 1;
            (count.first, count.last) = (count.first.min(since), count.last.max(since));
        }
        answer(causes.into_values().collect())
    }

    fn hours(&mut self, since: SystemTime) -> Pending<'_, Vec<HourCount>> {
        let mut newest: Vec<_> = self.maps.entries().collect();
        newest.sort_unstable_by_key(|(_, entry, _)| Reverse(entry.row.id));
        let counts = |times: &mut dyn Iterator<Item = SystemTime>| {
            let recent = times.filter(|time| *time >= since);
            recent.map(|time| (to_millis(time).div_euclid(MILLIS_PER_HOUR), 1)).collect()
        };
        let arrived = newest.iter().take(HourCount::MAX_ENTRIES as usize);
        let arrived = counts(&mut arrived.map(|(_, entry, _)| entry.received_at));
        let dead = newest.iter().filter(|(.., row)| row.state == State::Dead);
        answer(HourCount::collect(arrived, counts(&mut dead.map(|(.., row)| row.since))))
    }

    fn ledger_counts(&mut self) -> Pending<'_, LedgerCounts> {
        let mut counts = LedgerCounts::default();
        for (job_id, id, row) in self.maps.expected() {
            counts.add(&row.clone().into_job(id, job_id.clone()), self.now);
        }
        let states = self.maps.intents.values().map(|(_, row)| row.state_at(self.now));
        counts.unknown_intents =
            states.filter(|state| *state == IntentState::Unknown).count() as u64;
        answer(counts)
    }
}
