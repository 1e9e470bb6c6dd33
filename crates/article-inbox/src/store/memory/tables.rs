use std::{
    collections::{BTreeMap, HashMap},
    time::SystemTime,
};

use article_webhook::JobId;

use crate::{Key, State, rules::entry::Kept, store::Hint};

/// Everything that a store in memory keeps, and the ways to it.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) entries: BTreeMap<i64, Kept>,
    pub(super) ids: HashMap<Key, i64>,
    last_id: i64,
    pub(super) hints: HashMap<JobId, Hint>,
    pub(super) is_closed: bool,
}

impl Tables {
    pub(super) fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn insert(&mut self, kept: Kept) {
        self.ids.insert(kept.entry.key.clone(), kept.entry.id);
        self.entries.insert(kept.entry.id, kept);
    }

    pub(super) fn of(&self, key: &Key) -> Option<&Kept> {
        self.ids.get(key).and_then(|id| self.entries.get(id))
    }

    pub(super) fn of_mut(&mut self, key: &Key) -> Option<&mut Kept> {
        self.ids.get(key).and_then(|id| self.entries.get_mut(id))
    }

    pub(super) fn remove(&mut self, id: i64) {
        if let Some(kept) = self.entries.remove(&id) {
            self.ids.remove(&kept.entry.key);
        }
    }

    /// Those that are due, longest first.
    pub(super) fn due(&self, now: SystemTime) -> Vec<i64> {
        self.by_time(|kept| kept.is_due(now))
    }

    /// Those that have been in one of these states since before.
    pub(super) fn ended(&self, states: &[State], before: SystemTime) -> Vec<i64> {
        self.by_time(|kept| states.contains(&kept.entry.state) && kept.entry.at < before)
    }

    /// Ids of entries, the smallest time first, then the smallest id.
    fn by_time(&self, is_meant: impl Fn(&Kept) -> bool) -> Vec<i64> {
        let meant = self.entries.values().filter(|kept| is_meant(kept));
        let mut meant: Vec<_> = meant.map(|kept| (kept.entry.at, kept.entry.id)).collect();
        meant.sort_unstable();
        meant.into_iter().map(|(_, id)| id).collect()
    }

    pub(super) fn hints_by_age(&self) -> Vec<Hint> {
        let mut hints: Vec<_> = self.hints.values().cloned().collect();
        hints.sort_unstable_by(|a, b| (a.at, &a.job_id).cmp(&(b.at, &b.job_id)));
        hints
    }
}
