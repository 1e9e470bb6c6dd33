use super::inbox::{JobRow, Prune, Pruned, State};
use super::tables::{StoredEntry, Tables, article_entry};

impl Tables {
    /// Removes a batch of old data, oldest first.
    pub(super) fn prune(&mut self, prune: &Prune) -> Pruned {
        let mut pruned = Pruned::default();
        for id in self.by_time(|row| row.state == State::Done) {
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            let StoredEntry { row, bodies, .. } = entry;
            let is_old = |received_at| prune.removes_bytes(row, received_at);
            for body in bodies {
                if body.bytes.is_some() && is_old(body.received_at) {
                    let bytes = &mut body.bytes;
                    remove(prune, &mut pruned.bodies, &mut pruned.more, || *bytes = None);
                }
            }
        }
        for id in self.by_time(|row| prune.removes_entry(row)) {
            let job_id = &self.entries[&id].key.job_id;
            if self.ledger.job(job_id).is_some_and(|job| job.unproven.is_some()) {
                continue;
            }
            remove(prune, &mut pruned.entries, &mut pruned.more, || self.remove_old(id));
        }
        pruned
    }

    /// Removes an entry. What is known of its job stays.
    fn remove_old(&mut self, id: i64) {
        if let Some(StoredEntry { key, row, bodies, .. }) = self.entries.get(&id)
            && key.is_article()
        {
            let entry = article_entry(row.state, bodies);
            if let Some(job) = JobRow::of_pruned(&key.job_id, &entry, row.at) {
                self.ledger.add_job(&key.job_id, || job);
            }
        }
        self.remove(id);
    }
}

/// Removes one more, or notes that there is more to remove than the limit of the batch allows.
fn remove(prune: &Prune, count: &mut u32, more: &mut bool, remove: impl FnOnce()) {
    if *count == prune.limit {
        *more = true;
    } else {
        *count += 1;
        remove();
    }
}
