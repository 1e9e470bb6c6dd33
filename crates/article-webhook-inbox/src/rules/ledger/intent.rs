use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use serde::{Deserialize, Serialize};

use super::{super::lease::next_fence, JobRow};
use crate::{
    Digest,
    call::{Intent, IntentLease, IntentState, Topic},
    codec::{self, NewerFields},
    timestamp::{later, rounded},
};

/// The longest deadline of a call. One that is later comes from a clock that was set back.
pub(crate) const MAX_CALL_TIME: Duration = Duration::from_secs(2 * 3600);

/// The fence of the first call of an intent that was stored at that time.
fn first_fence(created_at: SystemTime) -> i64 {
    next_fence(0, created_at)
}

/// The part of a stored intent that changes, and every transition of it as a pure function.
///
/// A store loads a row, calls a transition, and writes the row back. It keeps the id and the name beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct IntentRow {
    /// What is known about the order. Never [`Unknown`](IntentState::Unknown).
    #[serde(skip)]
    pub state: IntentState,
    /// When it was stored.
    #[serde(skip, default = "crate::codec::no_time")]
    pub created_at: SystemTime,
    /// Ordering: the deadline of the call, or when it ended without a known outcome. Otherwise: when it entered its state.
    #[serde(skip, default = "crate::codec::no_time")]
    pub at: SystemTime,
    /// The fence of the last call.
    #[serde(skip)]
    pub fence: i64,
    /// The job that it became.
    #[serde(skip)]
    pub job_id: Option<JobId>,
    /// What was ordered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Topic>,
    /// How many calls were made that may have ordered it.
    pub calls: u32,
    /// How many of them were answered with a job.
    #[serde(default)]
    pub answered: u32,
    /// Jobs that were delivered to its URL, each in the place of a call without an answer. An answer confirms one of them, or
    /// takes its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provisional: Vec<JobId>,
    /// Digests of the ids of other jobs that were delivered to its URL. The first ones are in quarantine; each is polled that came
    /// while a call had no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Digest>,
    /// Digests of the ids of [erased](Self::erase) jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erased: Vec<Digest>,
    /// What only a newer version knows.
    #[serde(flatten)]
    pub newer: NewerFields,
}

impl IntentRow {
    /// An intent whose call may be made within this time from now on.
    #[must_use]
    pub fn new(within: Duration, now: SystemTime) -> Self {
        Self {
            state: IntentState::Ordering,
            created_at: now,
            at: later(now, within),
            fence: first_fence(now),
            job_id: None,
            topic: None,
            calls: 1,
            answered: 0,
            provisional: Vec::new(),
            refused: Vec::new(),
            erased: Vec::new(),
            newer: NewerFields::default(),
        }
    }

    /// What a document that cannot be trusted leaves of a row. Its columns are still missing.
    #[must_use]
    pub fn unread() -> Self {
        Self::new(Duration::ZERO, codec::no_time())
    }

    /// What is known at that time.
    #[must_use]
    pub fn state_at(&self, now: SystemTime) -> IntentState {
        match self.state {
            IntentState::Ordering if self.at <= now => IntentState::Unknown,
            state => state,
        }
    }

    /// The right to make its last call.
    #[must_use]
    pub fn lease(&self, id: i64) -> IntentLease {
        IntentLease { id, fence: self.fence }
    }

    /// The intent may be ordered again, although the outcome of the last call is unknown or was abandoned. `None` in any
    /// other state: then nothing changed.
    pub fn order_again(
        &mut self,
        id: i64,
        within: Duration,
        now: SystemTime,
    ) -> Option<IntentLease> {
        if !self.state_at(now).may_be_ordered_again() {
            return None;
        }
        (self.state, self.at) = (IntentState::Ordering, later(now, within));
        self.calls = self.calls.saturating_add(1);
        self.fence = next_fence(self.fence, now);
        Some(self.lease(id))
    }

    /// The call under this lease has ended, and whether the service took the order is not known: that is so from now on,
    /// and not only from the deadline on. `false` if this changes nothing, because it is not the last call, the deadline
    /// has passed, or something else is known.
    pub fn outcome_lost(&mut self, lease: IntentLease, now: SystemTime) -> bool {
        let is_under_way = self.fence == lease.fence && self.state_at(now) == IntentState::Ordering;
        if is_under_way {
            self.at = now;
        }
        is_under_way
    }

    /// The call under this lease proved that the service took no order. The store removes the intent if it must, and takes the
    /// jobs away that were delivered in the place of the call. If it was ordered again, an earlier call may have succeeded: then
    /// its outcome is unknown from now on, unless a job is bound in its place.
    pub fn not_ordered(&mut self, lease: IntentLease, now: SystemTime) -> NotOrdered {
        let is_open = self.state == IntentState::Ordering || !self.provisional.is_empty();
        if !is_open || self.fence != lease.fence {
            return NotOrdered::Nothing;
        }
        if self.fence == first_fence(self.created_at) && self.answered == 0 {
            return NotOrdered::Remove { unbound: std::mem::take(&mut self.provisional) };
        }
        let unbound = self.call_took_nothing(now);
        self.at = self.at.min(now);
        NotOrdered::Unknown { unbound }
    }

    /// The transition at the start of a process, for a store that only one process uses. It shortens a deadline that is
    /// further away than the call may last, because the clock was set back: its outcome would seem to be known later than it
    /// is. A call of a tool beside the process may still be under way, so that the others stay. `false` if nothing changed.
    pub fn restart(&mut self, now: SystemTime) -> bool {
        if self.state != IntentState::Ordering || self.at <= now {
            return false;
        }
        let before = self.at;
        if self.created_at < self.at {
            let lasts = self.at.duration_since(self.created_at).unwrap_or_default();
            self.at = self.at.min(later(now, lasts));
        }
        self.at = self.at.min(later(now, MAX_CALL_TIME));
        before != self.at
    }

    /// Gives up an intent whose outcome is unknown. `false` in any other state: then nothing changed.
    pub fn abandon(&mut self, now: SystemTime) -> bool {
        let is_unknown = self.state_at(now) == IntentState::Unknown;
        if is_unknown {
            (self.state, self.at) = (IntentState::Abandoned, now);
        }
        is_unknown
    }

    /// The intent became this job, as the answer to its call or a delivery says. `false` if its job was known: then
    /// nothing changed, and a second job of the intent does not take its place.
    pub fn resolve(&mut self, job_id: &JobId, now: SystemTime) -> bool {
        let is_new = self.state != IntentState::Ordered;
        if is_new {
            (self.state, self.at) = (IntentState::Ordered, now);
            self.job_id = Some(job_id.clone());
        }
        is_new
    }

    /// The row of an intent that another store exported. The call of an order that was under way there may succeed, so that
    /// its deadline stays, unless it comes from a clock that was ahead.
    #[must_use]
    pub fn imported(mut self, now: SystemTime) -> Self {
        if self.state == IntentState::Unknown {
            self.state = IntentState::Ordering;
        }
        // Not the first call: the service may have taken an order of the other store.
        self.fence = next_fence(first_fence(self.created_at), now);
        self.restart(now);
        self
    }

    /// The row of an intent that an imported job names and that was not imported: it was stored while the export ran. It
    /// became this job, so that it is not ordered again.
    #[must_use]
    pub fn of_imported(job_id: &JobId, job: &JobRow, now: SystemTime) -> Self {
        let created_at = job.expected_at.min(now);
        let answered = u32::from(!job.is_provisional());
        let mut row = Self { answered, ..Self::new(Duration::ZERO, created_at) };
        row.resolve_imported(job_id, job, now);
        row
    }

    /// The intent became this imported job, unless its job was known, as [`resolve`](Self::resolve) says. If a delivery alone says so
    /// there, an answer still decides here.
    pub fn resolve_imported(&mut self, job_id: &JobId, job: &JobRow, now: SystemTime) {
        if self.resolve(job_id, now) && job.is_provisional() {
            self.provisional.push(job_id.clone());
        }
    }

    /// Another store has this intent, too. What became of it there counts here if that is not known here, or by a delivery alone: it
    /// is not ordered again. The calls of both count. A line that is imported again changes nothing.
    pub fn import_outcome(&mut self, there: &Self) {
        // The same calls, if one store has its row from the other. Otherwise each made its own, and those of either that have no
        // answer may have one of these jobs.
        let is_copy = rounded(self.created_at) == rounded(there.created_at);
        let open = self.open_calls().max(there.open_calls());
        let calls = self.calls.max(there.calls);
        let confirmed = [self.confirmed(), there.confirmed()];
        let is_better =
            self.state != IntentState::Ordered || self.answered == 0 && there.answered > 0;
        if is_better && there.state == IntentState::Ordered {
            (self.state, self.at) = (IntentState::Ordered, there.at);
            self.job_id = there.job_id.clone();
        }
        let is_other = there.state == IntentState::Ordered && there.job_id != self.job_id;
        if self.state == IntentState::Ordered && self.job_id.is_none() {
            self.topic = None; // its job was erased in one of the stores
        } else if !is_other && (is_better || self.topic.is_none()) {
            self.topic = there.topic.clone().or(self.topic.take());
        }
        self.answered = self.answered.max(there.answered);
        self.calls = if is_copy { calls } else { self.answered.saturating_add(open) };
        add(&mut self.provisional, &there.provisional);
        self.provisional.retain(|bound| !confirmed.iter().flatten().any(|known| known == bound));
        add(&mut self.refused, &there.refused);
        add(&mut self.erased, &there.erased);
        while self.pop_surplus().is_some() {}
        self.leave_erased();
    }

    /// Its job, if more than a delivery says so.
    fn confirmed(&self) -> Option<JobId> {
        self.job_id.clone().filter(|job_id| !self.provisional.contains(job_id))
    }

    /// How many calls have no answer.
    fn open_calls(&self) -> u32 {
        self.calls.saturating_sub(self.answered)
    }

    /// The intent as the ledger shows it.
    #[must_use]
    pub fn into_intent(self, id: i64, name: Box<str>, now: SystemTime) -> Intent {
        let state = self.state_at(now);
        let Self { created_at, at, job_id, topic, .. } = self;
        Intent { id, name, state, created_at, at, job_id, topic }
    }
}

fn add<T: Clone + PartialEq>(known: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !known.contains(other) {
            known.push(other.clone());
        }
    }
}

/// What becomes of an intent whose last call ordered nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store obeys every decision")]
pub enum NotOrdered {
    /// The store removes it.
    Remove {
        /// The jobs that were bound.
        unbound: Vec<JobId>,
    },
    /// An earlier call may have ordered it.
    Unknown {
        /// The job that was bound in the place of the last call.
        unbound: Option<JobId>,
    },
    /// Nothing changes: its job is known, it was abandoned, or it was ordered again since.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;
    const WITHIN: Duration = Duration::from_secs(60);

    fn job(id: &str) -> JobId {
        id.parse().unwrap()
    }

    /// An intent in each state, at `NOW + WITHIN`.
    fn in_state(state: IntentState) -> IntentRow {
        let row = IntentRow::new(WITHIN, NOW);
        match state {
            IntentState::Ordering => IntentRow::new(WITHIN * 2, NOW),
            IntentState::Unknown => row,
            IntentState::Ordered => IntentRow { state, job_id: Some(job("job_1")), ..row },
            IntentState::Abandoned => IntentRow { state, ..row },
        }
    }

    #[test]
    fn a_lease_of_an_intent_that_was_lost_is_not_that_of_the_next() {
        let created_at = NOW + WITHIN;
        let lost = IntentRow::new(WITHIN, created_at).lease(1);
        let mut next = IntentRow::new(WITHIN, created_at + Duration::from_millis(1));
        assert_eq!(next.not_ordered(lost, created_at + WITHIN), NotOrdered::Nothing);
    }

    #[test]
    fn a_restart_shortens_a_deadline_that_a_wrong_clock_left() {
        for ahead in [MAX_CALL_TIME * 100, MAX_CALL_TIME, WITHIN] {
            let mut row = IntentRow::new(WITHIN, NOW + ahead);
            assert!(row.restart(NOW) && !row.restart(NOW));
            assert_eq!(row.at, NOW + WITHIN);
        }
        let mut again =
            IntentRow { created_at: NOW, ..IntentRow::new(WITHIN, NOW + MAX_CALL_TIME) };
        assert!(again.restart(NOW) && !again.restart(NOW));
        assert_eq!(again.at, NOW + MAX_CALL_TIME);
        let two_hours = Duration::from_secs(7200);
        assert!(!IntentRow::new(two_hours, NOW).restart(NOW), "a call may last so long");
        for state in [IntentState::Ordered, IntentState::Abandoned] {
            let at = NOW + MAX_CALL_TIME * 100;
            assert!(!IntentRow { at, ..in_state(state) }.restart(NOW), "{state}");
        }
    }

    #[test]
    fn an_imported_intent_is_as_it_was_shown() {
        let now = NOW + WITHIN;
        for &state in IntentState::ALL {
            let shown = in_state(state).into_intent(7, "post-17".into(), now);
            let there = IntentRow { state, ..in_state(state) };
            let mut row = there.imported(now);
            assert_eq!(row.clone().into_intent(7, "post-17".into(), now), shown);
            let decision = row.not_ordered(row.lease(7), now);
            assert!(!matches!(decision, NotOrdered::Remove { .. }), "{state}");
        }
    }

    /// If it was stored while the export ran, the export has its job alone.
    #[test]
    fn the_intent_of_an_imported_job_is_as_certain_as_the_job_says() {
        let intent = Some("post-17".into());
        let known = JobRow { intent: intent.clone(), ..JobRow::unread() };
        let doubted = JobRow { unproven: intent, ..known.clone() };
        for (line, is_doubted) in [(known, false), (doubted, true)] {
            let mut row = IntentRow::of_imported(&job("job_1"), &line, NOW);
            assert_eq!(row.expects_refused(&job("job_2")), is_doubted, "a call has no answer");
            assert_eq!(row.unbind(&job("job_1"), NOW), is_doubted, "a delivery bound it");
        }
    }
}
