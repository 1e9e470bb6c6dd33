use std::time::{Duration, SystemTime};

use crate::{
    BODIES, Body, Entry, State,
    store::{Arrival, Claim, Lease, Outcome, Recorded, Settled},
};

/// An entry as a store keeps it, and everything that can happen to it: each transition of the contract is one
/// function here, which is told the time and touches nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) entry: Entry,
    pub(crate) bodies: Vec<Body>,
    fence: i64,
}

/// What a claim does to an entry that is due.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Leased(Lease),
    Buried,
}

/// Why an entry is dead whose attempts are used up without a word of any of them.
const UNENDED: &str = "the last attempt did not end";

impl Kept {
    /// The first body of an entry.
    pub(crate) fn new(id: i64, arrival: Arrival, now: SystemTime) -> Self {
        let entry = Entry {
            id,
            key: arrival.key.clone(),
            state: State::Waiting,
            attempts: 0,
            received_at: now,
            at: now,
            conflicts: 0,
            cause: None,
        };
        Self { entry, bodies: vec![body(arrival, now)], fence: 0 }
    }

    /// What another store has shown. Whoever leased it there knows nothing of this store.
    pub(crate) fn import(id: i64, entry: Entry, bodies: Vec<Body>, now: SystemTime) -> Self {
        let (state, at) = match entry.state {
            State::Leased => (State::Waiting, now),
            state => (state, millis(entry.at)),
        };
        let entry = Entry { id, state, at, received_at: millis(entry.received_at), ..entry };
        let bodies = bodies
            .into_iter()
            .map(|body| Body { received_at: millis(body.received_at), ..body })
            .collect();
        Self { entry, bodies, fence: 0 }
    }

    /// One body more, which may be one that is there already.
    pub(crate) fn record(&mut self, arrival: Arrival, now: SystemTime) -> Recorded {
        if let Some(body) = self.bodies.iter_mut().find(|body| body.digest == arrival.digest) {
            if self.entry.state != State::Corrupt {
                return Recorded::Duplicate;
            }
            body.bytes = Some(arrival.bytes);
            self.wait(now, None);
            return Recorded::Stored;
        }

        let is_full = self.bodies.len() >= BODIES;
        if let State::Unhandled | State::Corrupt = self.entry.state {
            if is_full {
                self.bodies.pop();
            }
            self.bodies.push(body(arrival, now));
            self.entry.conflicts += 1;
            self.wait(now, None);
            return Recorded::Stored;
        }
        if is_full && !self.is_known_to_decode() {
            return Recorded::Crowded;
        }
        if !is_full {
            self.bodies.push(body(arrival, now));
        }
        self.entry.conflicts += 1;
        Recorded::Conflict { kept: !is_full }
    }

    /// Whether a worker has looked at the bodies and found one that will do.
    fn is_known_to_decode(&self) -> bool {
        match self.entry.state {
            State::Done | State::Dead => true,
            State::Waiting => self.entry.cause.is_some(),
            State::Leased | State::Unhandled | State::Corrupt => false,
        }
    }

    pub(crate) fn is_due(&self, now: SystemTime) -> bool {
        matches!(self.entry.state, State::Waiting | State::Leased) && self.entry.at <= now
    }

    /// Leases an entry that is due, or buries it when its attempts are used up.
    pub(crate) fn claim(&mut self, claim: &Claim, now: SystemTime) -> Taken {
        debug_assert!(self.is_due(now), "only what is due is claimed");
        if self.entry.attempts >= claim.attempts {
            let cause = self.entry.cause.take().unwrap_or_else(|| UNENDED.into());
            self.turn(State::Dead, now, Some(cause));
            return Taken::Buried;
        }
        // Counted before the handler runs, so that an article that kills the process runs out of attempts.
        self.entry.attempts += 1;
        self.fence += 1;
        self.entry.state = State::Leased;
        self.entry.at = later(now, claim.lease);
        Taken::Leased(Lease { id: self.entry.id, fence: self.fence })
    }

    /// Whether the entry is still that lease's own.
    fn is_held(&self, lease: Lease, now: SystemTime) -> bool {
        self.entry.state == State::Leased && self.fence == lease.fence && now < self.entry.at
    }

    /// Lets a lease last for so long from now on; `false` if it no longer holds.
    pub(crate) fn extend(&mut self, lease: Lease, by: Duration, now: SystemTime) -> bool {
        let is_held = self.is_held(lease, now);
        if is_held {
            self.entry.at = later(now, by);
        }
        is_held
    }

    /// What became of an attempt.
    pub(crate) fn settle(&mut self, lease: Lease, outcome: Outcome, now: SystemTime) -> Settled {
        if self.entry.state == State::Done && self.fence == lease.fence {
            return Settled::AlreadyDone;
        }
        if !self.is_held(lease, now) {
            return Settled::LostLease;
        }
        match outcome {
            Outcome::Done => self.turn(State::Done, now, None),
            Outcome::Dead { cause } => self.turn(State::Dead, now, Some(cause)),
            Outcome::Retry { after, cause } => self.wait(later(now, after), Some(cause)),
            Outcome::Unhandled { seen, cause } => self.reject(State::Unhandled, seen, cause, now),
            Outcome::Corrupt { seen, cause } => self.reject(State::Corrupt, seen, cause, now),
            Outcome::Released => {
                self.entry.attempts -= 1;
                let cause = self.entry.cause.take();
                self.wait(now, cause);
            }
        }
        Settled::Settled
    }

    /// None of the bodies that were looked at will do. One that came meanwhile may.
    fn reject(&mut self, state: State, seen: usize, cause: String, now: SystemTime) {
        self.entry.attempts -= 1;
        if self.bodies.len() > seen {
            self.wait(now, None);
        } else {
            self.turn(state, now, Some(cause));
        }
    }

    /// Begins anew; `false` for an entry that somebody works on or will, or that is done.
    pub(crate) fn requeue(&mut self, now: SystemTime) -> bool {
        let is_stuck = matches!(self.entry.state, State::Dead | State::Unhandled | State::Corrupt);
        if is_stuck {
            self.entry.attempts = 0;
            self.wait(now, None);
        }
        is_stuck
    }

    /// Gives up; `false` for an entry that a worker is at, or that has ended.
    pub(crate) fn bury(&mut self, cause: String, now: SystemTime) -> bool {
        let is_unfinished =
            matches!(self.entry.state, State::Waiting | State::Unhandled | State::Corrupt);
        if is_unfinished {
            self.turn(State::Dead, now, Some(cause));
        }
        is_unfinished
    }

    fn wait(&mut self, at: SystemTime, cause: Option<String>) {
        self.turn(State::Waiting, at, cause);
    }

    fn turn(&mut self, state: State, at: SystemTime, cause: Option<String>) {
        self.entry.state = state;
        self.entry.at = at;
        self.entry.cause = cause;
    }
}

fn body(arrival: Arrival, now: SystemTime) -> Body {
    Body {
        received_at: now,
        source: arrival.source,
        target: arrival.target,
        intent: arrival.intent,
        digest: arrival.digest,
        bytes: Some(arrival.bytes),
    }
}

/// The latest time there is: what a database holds as milliseconds in 64 bits.
const LAST: Duration = Duration::from_millis(i64::MAX as u64);

/// So long after a time, in whole milliseconds. A pause without end ends at the last one.
fn later(now: SystemTime, by: Duration) -> SystemTime {
    let last = SystemTime::UNIX_EPOCH + LAST;
    millis(now.checked_add(by).map_or(last, |at| at.min(last)))
}

/// A time rounded down to milliseconds; one before 1970 is none that a delivery has.
pub(crate) fn millis(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::new(since.as_secs(), since.subsec_millis() * 1_000_000)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{Digest, Key, Source};

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const CLAIM: Claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 2 };

    fn arrival(bytes: &'static str) -> Arrival {
        Arrival {
            key: Key::article("job_1".parse().unwrap()),
            source: Source::Webhook,
            target: "default".into(),
            intent: None,
            digest: Digest::of(bytes.as_bytes()),
            bytes: Bytes::from(bytes),
        }
    }

    fn claimed(kept: &mut Kept, now: SystemTime) -> Lease {
        match kept.claim(&CLAIM, now) {
            Taken::Leased(lease) => lease,
            Taken::Buried => panic!("buried"),
        }
    }

    #[test]
    fn times_are_rounded_down_to_milliseconds() {
        assert_eq!(
            millis(START + Duration::from_nanos(1_999_999)),
            START + Duration::from_millis(1)
        );
        assert_eq!(millis(START - Duration::from_secs(1)), START);
        assert_eq!(later(START, Duration::from_micros(1999)), START + Duration::from_millis(1));
    }

    #[test]
    fn a_pause_without_end_ends_at_the_last_millisecond() {
        assert_eq!(later(START, Duration::MAX), START + LAST);
    }

    #[test]
    fn a_lease_holds_until_the_millisecond_it_ends() {
        let mut kept = Kept::new(1, arrival("{}"), START);
        let lease = claimed(&mut kept, START);
        let end = START + CLAIM.lease;
        assert!(kept.is_held(lease, end - Duration::from_millis(1)));
        assert!(!kept.is_held(lease, end));
        assert!(kept.is_due(end));
    }

    #[test]
    fn a_lost_lease_changes_nothing() {
        let mut kept = Kept::new(1, arrival("{}"), START);
        let lost = claimed(&mut kept, START);
        let now = START + CLAIM.lease;
        claimed(&mut kept, now);
        let before = kept.clone();
        assert_eq!(kept.settle(lost, Outcome::Done, now), Settled::LostLease);
        assert!(!kept.extend(lost, CLAIM.lease, now));
        assert_eq!((kept.entry, kept.bodies), (before.entry, before.bodies));
    }

    #[test]
    fn the_first_word_about_a_failure_is_the_cause_of_death() {
        let mut kept = Kept::new(1, arrival("{}"), START);
        let lease = claimed(&mut kept, START);
        kept.settle(
            lease,
            Outcome::Retry { after: Duration::ZERO, cause: "no network".into() },
            START,
        );
        claimed(&mut kept, START);
        assert_eq!(kept.claim(&CLAIM, START + CLAIM.lease), Taken::Buried);
        assert_eq!(kept.entry.cause.as_deref(), Some("no network"));
    }

    #[test]
    fn a_body_before_and_after_a_rejection_leave_the_same_entry() {
        let reject = || Outcome::Unhandled { seen: 1, cause: "not an article".into() };
        let mut before = Kept::new(1, arrival("{}"), START);
        let mut after = before.clone();

        let lease = claimed(&mut before, START);
        before.record(arrival("[]"), START);
        before.settle(lease, reject(), START);

        let lease = claimed(&mut after, START);
        after.settle(lease, reject(), START);
        after.record(arrival("[]"), START);
        assert_eq!((before.entry, before.bodies), (after.entry, after.bodies));
    }
}
