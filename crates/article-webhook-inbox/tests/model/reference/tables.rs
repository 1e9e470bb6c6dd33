use super::inbox::{
    Arrival, ArticleEntry, Body, Entry, EntryKey, JobRow, JobState, Row, Since, Source, State,
    title_of,
};
use std::{
    collections::{BTreeMap, HashMap},
    time::SystemTime,
};

use article_webhook::JobId;

use super::ledger_tables::LedgerTables;

/// All data of a store in memory.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) entries: BTreeMap<i64, StoredEntry>,
    pub(super) ids: HashMap<EntryKey, i64>,
    pub(super) ledger: LedgerTables,
    pub(super) is_closed: bool,
    pub(super) paused_since: Option<Since>,
}

/// An entry with its bodies. The rules change the row, and the rest stays.
pub(super) struct StoredEntry {
    pub(super) key: EntryKey,
    pub(super) received_at: SystemTime,
    pub(super) row: Row,
    pub(super) bodies: Vec<Body>,
}

/// The target of what came to the URL of an order.
pub(super) const CAPABILITY: &str = "capability";

/// A body as it is stored now.
pub(super) fn stored_body(arrival: Arrival, now: SystemTime) -> Body {
    arrival.into_body(now)
}

impl StoredEntry {
    pub(super) fn entry(&self, id: i64) -> Entry {
        let first = self.bodies.first().map_or(("".into(), Source::Webhook, None), |body| {
            let length = body.bytes.as_ref().map(|bytes| bytes.len() as u64);
            (body.target.clone(), body.source, length)
        });
        let title = |body: &Body| title_of(body.bytes.as_ref()?);
        let titled =
            self.bodies.iter().filter(|body| self.key.is_article() && title(body).is_some());
        let title = titled.min_by_key(|body| body.is_by_capability()).and_then(title);
        self.row.clone().into_entry(id, self.key.clone(), self.received_at, first, title)
    }
}

impl Tables {
    pub(super) fn insert(&mut self, entry: StoredEntry) {
        self.ledger.last_id += 1;
        let id = self.ledger.last_id;
        self.ids.insert(entry.key.clone(), id);
        self.entries.insert(id, entry);
    }

    pub(super) fn get(&self, key: &EntryKey) -> Option<(i64, &StoredEntry)> {
        let id = self.ids.get(key)?;
        Some((*id, self.entries.get(id)?))
    }

    pub(super) fn get_mut(&mut self, key: &EntryKey) -> Option<&mut StoredEntry> {
        self.ids.get(key).and_then(|id| self.entries.get_mut(id))
    }

    pub(super) fn remove(&mut self, id: i64) {
        if let Some(entry) = self.entries.remove(&id) {
            self.ids.remove(&entry.key);
        }
    }

    /// The entry of a job's article, as far as the ledger needs to know it.
    pub(super) fn article_entry(&self, job_id: &JobId) -> Option<ArticleEntry> {
        let (_, entry) = self.get(&EntryKey::article(job_id.clone()))?;
        Some(article_entry(entry.row.state, &entry.bodies))
    }

    /// Reports to the ledger that an entry may be in another state.
    pub(super) fn sync_with_entry(&mut self, key: &EntryKey, now: SystemTime) {
        let entry = self.article_entry(&key.job_id).filter(|_| key.is_article());
        let Some(entry) = entry else { return };
        let followed = self.ledger.change_job(&key.job_id, |job| {
            let before = job.state;
            job.sync_with_entry(entry.state, entry.source(), now);
            before
        });
        if let Some(before) = followed {
            self.overtake(&key.job_id, before);
        }
    }

    /// If a job's article came since the job was in this state, a failure that waits is not handed out any more.
    pub(super) fn overtake(&mut self, job_id: &JobId, before: JobState) {
        let has_arrived = |job: &JobRow| job.has_arrived_since(before);
        if !self.ledger.job(job_id).is_some_and(has_arrived) {
            return;
        }
        let failure = self.get(&EntryKey::failure(job_id.clone()));
        let overtaken = failure.filter(|(_, entry)| entry.row.is_overtaken()).map(|(id, _)| id);
        overtaken.into_iter().for_each(|id| self.remove(id));
    }

    /// The ids of the entries whose row fulfils a condition: by time, then by id.
    pub(super) fn by_time(&self, condition: impl Fn(&Row) -> bool) -> Vec<i64> {
        let matching = self.entries.iter().filter(|(_, entry)| condition(&entry.row));
        let mut ids: Vec<_> = matching.map(|(id, entry)| (entry.row.at, *id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// The times of all entries in these states, with their ids.
    pub(super) fn times(&self, states: &[State]) -> impl Iterator<Item = (SystemTime, i64)> {
        let matching = self.entries.iter().filter(|(_, entry)| states.contains(&entry.row.state));
        matching.map(|(id, entry)| (entry.row.at, *id))
    }
}

/// What the ledger needs to know of an article in this state, with these bodies.
pub(super) fn article_entry(state: State, bodies: &[Body]) -> ArticleEntry {
    let first = |source| {
        let of_source = bodies.iter().filter(|body| body.source == source);
        of_source.map(|body| body.received_at).min()
    };
    ArticleEntry { state, pushed_at: first(Source::Webhook), collected_at: first(Source::Api) }
}
