use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::call::Lease;

/// The pause before leases are extended again, after the store failed to.
const AFTER_FAILURE: Duration = Duration::from_millis(500);

/// Keeps leases alive: extends all of them when a third of their time is over, and finds those that are lost.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    lease: Duration,
    /// Until when each lease certainly holds.
    held: HashMap<Lease, Instant>,
    beat_at: Instant,
}

impl Heartbeat {
    pub(crate) fn new(lease: Duration, now: Instant) -> Self {
        Self { lease, held: HashMap::new(), beat_at: now + lease / 3 }
    }

    /// A call that began at `asked` granted a lease.
    pub(crate) fn held(&mut self, lease: Lease, asked: Instant) {
        self.held.insert(lease, asked + self.lease);
    }

    /// Its attempt is over.
    pub(crate) fn ended(&mut self, lease: Lease) {
        self.held.remove(&lease);
    }

    /// When to extend leases next, or to find leases that have ended; `None` without leases.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.end().map(|end| self.beat_at.min(end))
    }

    /// When the first lease ends, if nothing extends it.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.held.values().min().copied()
    }

    /// The leases to extend now; none if it is too early. The caller must report the result.
    pub(crate) fn beat(&mut self, now: Instant) -> Vec<Lease> {
        if now < self.beat_at {
            return Vec::new();
        }
        self.beat_at = now + self.lease / 3;
        self.held.keys().copied().collect()
    }

    /// Records the result of a call to extend that began at `asked`. `still` are the leases that still held.
    /// Returns the lost ones.
    pub(crate) fn extended(
        &mut self,
        asked: Instant,
        for_leases: &[Lease],
        still: &[Lease],
    ) -> Vec<Lease> {
        let mut lost = Vec::new();
        for lease in for_leases {
            if still.contains(lease) {
                self.held.entry(*lease).and_modify(|end| *end = asked + self.lease);
            } else if self.held.remove(lease).is_some() {
                lost.push(*lease);
            }
        }
        lost
    }

    /// The store failed to extend them. The next call follows soon.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.beat_at = now + AFTER_FAILURE.min(self.lease / 3);
    }

    /// The leases that have ended by `now` without being extended. They are lost.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<Lease> {
        let ended = |end: &Instant| *end <= now;
        let lost =
            self.held.iter().filter(|(_, end)| ended(end)).map(|(lease, _)| *lease).collect();
        self.held.retain(|_, end| !ended(end));
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);
    const ONE: Lease = Lease { id: 1, fence: 1 };
    const TWO: Lease = Lease { id: 2, fence: 1 };

    fn heartbeat() -> (Heartbeat, Instant) {
        let now = Instant::now();
        let mut heartbeat = Heartbeat::new(LEASE, now);
        heartbeat.held(ONE, now);
        (heartbeat, now)
    }

    #[test]
    fn leases_are_extended_at_a_third_of_their_time() {
        let (mut heartbeat, now) = heartbeat();
        assert_eq!(heartbeat.due(), Some(now + LEASE / 3));
        assert_eq!(heartbeat.beat(now + LEASE / 4), []);
        let asked = now + LEASE / 3;
        assert_eq!(heartbeat.beat(asked), [ONE]);
        assert_eq!(heartbeat.extended(asked, &[ONE], &[ONE]), []);
        assert_eq!(heartbeat.due(), Some(asked + LEASE / 3));
        assert_eq!(heartbeat.expired(now + LEASE), []);
        assert_eq!(heartbeat.expired(asked + LEASE), [ONE]);
    }

    #[test]
    fn a_lease_that_another_worker_got_is_lost_at_the_next_beat() {
        let (mut heartbeat, now) = heartbeat();
        heartbeat.held(TWO, now);
        assert_eq!(heartbeat.extended(now, &[ONE, TWO], &[TWO]), [ONE]);
        assert_eq!(heartbeat.expired(now + LEASE), [TWO]);
    }

    #[test]
    fn a_store_that_is_down_is_asked_again_soon_and_the_lease_ends_in_its_time() {
        let (mut heartbeat, now) = heartbeat();
        let asked = now + LEASE / 3;
        assert_eq!(heartbeat.beat(asked), [ONE]);
        heartbeat.failed(asked);
        assert_eq!(heartbeat.due(), Some(asked + AFTER_FAILURE));
        heartbeat.failed(now + LEASE);
        assert_eq!(heartbeat.due(), Some(now + LEASE));
        assert_eq!(heartbeat.expired(now + LEASE), [ONE]);
        assert_eq!(heartbeat.due(), None);
    }

    #[test]
    fn an_attempt_that_is_over_is_neither_extended_nor_lost() {
        let (mut heartbeat, now) = heartbeat();
        heartbeat.ended(ONE);
        assert_eq!(heartbeat.beat(now + LEASE), []);
        assert_eq!(heartbeat.extended(now, &[ONE], &[]), []);
        assert_eq!(heartbeat.expired(now + LEASE * 2), []);
    }
}
