//! Quarantine: the bodies of refused deliveries. They have an entry of their own beside that of the article, which no worker
//! claims, and which ends when a good copy comes.

use std::time::SystemTime;

use article_webhook::ArticleResult;

use super::{BodyRow, EntryRows, JobRow, JobRows, Row, Tracked, row::Cause};
use crate::{
    Body, EntryKey, State,
    call::{Arrival, Quarantined},
};

/// How many bodies are kept: the latest and the longest.
const MAX_BODIES: usize = 2;

/// What a body in quarantine takes of the budget at least. It bounds how many there are, because each further one costs a look
/// at all of them.
pub const MIN_QUARANTINE_COST: u64 = 64 << 10;

/// Capability URLs reach logs more easily than tokens: what is delivered to one is kept while this part of the budget is left.
const SHARE_OF_CAPABILITIES: u64 = 4;

/// What a body of this length takes of the budget.
fn cost(length: u64) -> u64 {
    length.max(MIN_QUARANTINE_COST)
}

impl Row {
    /// Another body is in quarantine, for this cause.
    fn quarantine(&mut self, cause: &str, now: SystemTime) {
        self.end(State::Quarantined, Cause::New(cause.to_owned()), now);
    }
}

impl EntryRows {
    /// What its bodies take of the budget for quarantine.
    #[must_use]
    pub fn quarantine_cost(&self) -> u64 {
        self.bodies().map(|body| cost(body.length())).sum()
    }
}

impl JobRows {
    /// Why the body of a refused delivery need not be kept.
    #[must_use]
    pub fn quarantine_not_needed(&self, arrival: &Arrival) -> Option<Quarantined> {
        if arrival.key.is_article() && self.has_article() {
            return Some(Quarantined::NotNeeded);
        }
        let entry = self.entry(&arrival.key.quarantine().event)?;
        let is_same = |body: &BodyRow| body.digest == arrival.digest && body.has_bytes();
        entry.bodies().any(is_same).then_some(Quarantined::Duplicate)
    }

    /// Keeps the body of a refused delivery, for this cause. `left` is what is left of the budget.
    pub fn quarantine(
        &mut self,
        arrival: &Arrival,
        cause: &str,
        left: u64,
        now: SystemTime,
    ) -> Quarantined {
        if let Some(not_needed) = self.quarantine_not_needed(arrival) {
            return not_needed;
        }
        let key = arrival.key.quarantine();
        let entry = self.entry(&key.event);
        // One that came to a capability URL gives way first, and others to no such one; then the shorter.
        let full = entry.filter(|entry| entry.bodies().count() >= MAX_BODIES);
        let replaced = full.and_then(|entry| {
            let bodies = entry.bodies.iter().enumerate();
            let bodies = bodies.filter_map(|(at, body)| {
                let body = body.get()?;
                Some((!body.is_by_capability(), body.length(), at))
            });
            bodies.filter(|(outranks, ..)| !(*outranks && arrival.is_by_capability())).min()
        });
        let freed = replaced.map_or(0, |(_, length, _)| cost(length));
        let has_room = full.is_none() || replaced.is_some();
        if !has_room || cost(arrival.bytes.len() as u64) > left.saturating_add(freed) {
            return Quarantined::BudgetReached;
        }
        let body = BodyRow::new(arrival, now);
        let Some(entry) = self.entry_mut(&key.event) else {
            let mut row = Row::new(now);
            row.quarantine(cause, now);
            self.entries.push(EntryRows {
                event: key.event,
                received_at: now,
                row: Tracked::new(row),
                bodies: vec![Tracked::new(body)],
                damage: None,
            });
            return Quarantined::Kept;
        };
        if let Some(row) = entry.row.get_mut() {
            row.conflicts = row.conflicts.saturating_add(1);
            row.quarantine(cause, now);
        }
        match replaced {
            Some((.., index)) => entry.bodies[index].set(body),
            None => entry.bodies.push(Tracked::new(body)),
        }
        Quarantined::Kept
    }

    /// Whether this is the key of the quarantine of an article that was handled.
    pub(super) fn is_quarantine_not_needed(&self, key: &EntryKey) -> bool {
        key.quarantined().is_some_and(|key| key.is_article()) && self.has_article()
    }

    /// Whether the article was handled. An entry that ended otherwise may have no body that can be read.
    fn has_article(&self) -> bool {
        let entry = self.entry(&EntryKey::article(self.job_id.clone()).event);
        match entry.and_then(|entry| entry.row.get()) {
            Some(row) => row.state == State::Done,
            None => self.expected.get().is_some_and(JobRow::is_tombstone),
        }
    }

    /// Ends the quarantine of a delivery if this is a good copy of it.
    pub(super) fn end_quarantine(&mut self, key: &EntryKey, bytes: &[u8]) {
        let quarantine = key.quarantine();
        // The entry is looked for first, because a quarantine is rare: other deliveries are not parsed here.
        if self.entry(&quarantine.event).is_some() && is_good(key, bytes) {
            self.remove_quarantine(&quarantine);
        }
    }

    /// Ends the quarantine of the article once that was handled.
    pub(super) fn end_quarantine_if_handled(&mut self) {
        if self.has_article() {
            self.remove_quarantine(&EntryKey::article(self.job_id.clone()).quarantine());
        }
    }

    /// Removes a quarantine. `false` if it is not there.
    pub(super) fn remove_quarantine(&mut self, key: &EntryKey) -> bool {
        self.entry_mut(&key.event).map(EntryRows::remove).is_some()
    }
}

/// Whether this version can read the body as what was delivered. It knows no other event than that of an article.
fn is_good(key: &EntryKey, bytes: &[u8]) -> bool {
    !key.is_article()
        || ArticleResult::from_json(bytes).is_ok_and(|result| result.job_id == key.job_id)
}

/// The arrival that a body in quarantine, whose entry has this key, is to this version: `None` if it cannot read it. Its headers
/// are not known any more, so that only a body that itself says that it is complete counts.
#[must_use]
pub(crate) fn decode_again(key: &EntryKey, body: &Body) -> Option<Arrival> {
    let key = key.quarantined()?;
    let bytes = body.bytes.as_ref().filter(|_| body.is_intact())?;
    let (result, drift) = ArticleResult::from_json_with_drift(bytes).ok()?;
    let is_complete = drift.iter().all(|drift| drift.path != "status");
    let is_good = key.is_article() && result.job_id == key.job_id && is_complete;
    Arrival::of(key, body).filter(|_| is_good)
}

/// Whether each of these bodies in quarantine reports that the job failed.
pub(crate) fn all_report_failure<'a>(bodies: impl IntoIterator<Item = &'a Body>) -> bool {
    bodies.into_iter().all(|body| {
        let bytes = body.bytes.as_deref().unwrap_or_default();
        ArticleResult::from_json(bytes).is_err_and(|error| error.failure().is_some())
    })
}

/// What is left of a budget for an arrival, if so much is used.
pub(crate) fn left_for(arrival: &Arrival, budget: u64, used: u64) -> u64 {
    let budget = if arrival.intent.is_some() { budget / SHARE_OF_CAPABILITIES } else { budget };
    budget.saturating_sub(used)
}
