use super::inbox::{Arrival, BodyWrite, Expect, JobRow, KnownBody, Reason, Recorded, Row};
use std::time::SystemTime;

use super::tables::{CAPABILITY, StoredEntry, Tables, stored_body};

impl Tables {
    /// Stores a body, and reports a copy of an article to the ledger. `ordered` is the intent that becomes its job.
    pub(super) fn record(
        &mut self,
        arrival: Arrival,
        ordered: Option<&str>,
        now: SystemTime,
    ) -> Recorded {
        let key = arrival.key.clone();
        let is_by_capability = &*arrival.target == CAPABILITY;
        let url = arrival.intent.clone().filter(|_| is_by_capability && ordered.is_some());
        if url.as_deref().is_some_and(|name| self.admits(name, &key.job_id) == Some(false)) {
            return Recorded::OtherJob;
        }
        if !arrival.key.is_article() {
            return self.record_body(arrival, now);
        }
        let bound = url.as_deref().and_then(|name| self.bind(name, &key.job_id, now));
        let (source, intent) = (arrival.source, arrival.intent.clone());
        let is_gone = !self.ids.contains_key(&key);
        let job = self.ledger.job(&key.job_id);
        let recorded = if is_gone && job.is_some_and(JobRow::is_tombstone) {
            Recorded::Duplicate
        } else {
            self.record_body(arrival, now)
        };
        if recorded == Recorded::BodyLimitReached {
            return recorded;
        }

        let entry = self.article_entry(&key.job_id);
        if self.ledger.resolve(ordered, &key.job_id, now) {
            let job = Expect::job(key.job_id.clone(), bound.unwrap_or(now));
            let expect = Expect { reason: Reason::Ordered, ..job };
            let entry = entry.filter(|_| bound.is_none());
            self.ledger.add_job(&key.job_id, || JobRow::new(&expect, entry.as_ref(), now));
        }
        let noted = self.ledger.change_job(&key.job_id, |job| {
            let before = job.clone();
            job.note_copy(source, intent.as_deref(), now);
            match (&url, bound) {
                (Some(name), Some(at)) => job.doubt(name, at, now),
                _ if !is_by_capability && job.is_provisional() => job.unproven = None,
                _ => {}
            }
            if let Some(entry) = entry {
                job.sync_with_entry(entry.state, source, now);
            }
            (job.recorded(recorded, &before, now), before.state)
        });
        let Some((recorded, before)) = noted else { return recorded };
        self.overtake(&key.job_id, before);
        recorded
    }

    /// Stores a body under its key, and nothing else. A copy that can be read ends the quarantine.
    pub(super) fn record_body(&mut self, arrival: Arrival, now: SystemTime) -> Recorded {
        let (key, bytes) = (arrival.key.clone(), arrival.bytes.clone());
        let recorded = self.add_body(arrival, now);
        if recorded != Recorded::BodyLimitReached {
            self.copy_came(&key, &bytes);
        }
        recorded
    }

    fn add_body(&mut self, arrival: Arrival, now: SystemTime) -> Recorded {
        let Some(entry) = self.get_mut(&arrival.key) else {
            let (key, row) = (arrival.key.clone(), Row::new(now));
            let bodies = vec![stored_body(arrival, now)];
            self.insert(StoredEntry { key, received_at: now, row, bodies });
            return Recorded::Stored;
        };
        let known: Vec<_> = entry.bodies.iter().map(KnownBody::from).collect();
        let new = KnownBody::from(&arrival);
        let recording = if arrival.key.is_failure() {
            entry.row.record_failure(new, &known, now)
        } else {
            entry.row.record(new, &known, now)
        };
        match recording.write {
            BodyWrite::Nothing => {}
            BodyWrite::Append => entry.bodies.push(stored_body(arrival, now)),
            BodyWrite::Replace(index) => {
                let intent = entry.bodies[index].intent.take();
                let intent = arrival.intent.clone().or(intent);
                entry.bodies[index] = stored_body(Arrival { intent, ..arrival }, now);
            }
            BodyWrite::Intent(index) => entry.bodies[index].intent = arrival.intent,
            BodyWrite::Target(index) => entry.bodies[index].target = arrival.target,
        }
        recording.recorded
    }
}
