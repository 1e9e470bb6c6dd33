use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{
    State,
    call::{Lease, Outcome, Settled},
};

impl Row {
    /// Stores the outcome of an attempt. `bodies` is how many bodies the entry has now; it matters for
    /// [`Outcome::Unhandled`] and [`Outcome::Corrupt`] alone. The row changed if the result is [`Settled::Settled`].
    pub fn settle(
        &mut self,
        lease: Lease,
        outcome: &Outcome,
        bodies: usize,
        now: SystemTime,
    ) -> Settled {
        if self.state == State::Done && self.fence == lease.fence {
            return Settled::AlreadyDone;
        }
        if !self.is_held(lease, now) {
            return Settled::LostLease;
        }
        // An attempt that does not count says nothing about whether the entry crashes the process.
        if matches!(outcome, Outcome::Done | Outcome::Dead { .. } | Outcome::Retry { .. }) {
            self.interrupted = 0;
        }
        match outcome {
            Outcome::Done => self.end(State::Done, Cause::None, now),
            Outcome::Dead { cause } => self.end(State::Dead, Cause::New(cause.clone()), now),
            Outcome::Retry { after, cause } => {
                self.wait(*after, Cause::New(cause.clone()), now);
            }
            Outcome::Unhandled { seen, cause } => {
                self.reject(State::Unhandled, (*seen, bodies), cause, now);
            }
            Outcome::Corrupt { seen, cause } => {
                self.reject(State::Corrupt, (*seen, bodies), cause, now);
            }
            Outcome::Released => {
                self.uncount_attempt();
                self.wait(Duration::ZERO, Cause::Kept, now);
            }
            Outcome::Snoozed { after } => {
                self.uncount_attempt();
                self.wait(*after, Cause::Kept, now);
            }
        }
        Settled::Settled
    }

    /// No body that the worker checked can be passed to a handler. If a body was added since, the entry waits, so that
    /// a worker checks that body.
    fn reject(
        &mut self,
        state: State,
        (seen, bodies): (usize, usize),
        cause: &str,
        now: SystemTime,
    ) {
        self.uncount_attempt();
        self.end(state, Cause::New(cause.to_owned()), now);
        if bodies > seen {
            self.wait(Duration::ZERO, Cause::None, now);
        }
    }

    fn uncount_attempt(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Digest, Source,
        call::{Claim, Events},
        rules::{ClaimDecision, Claiming, KnownBody},
    };

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const CLAIM: Claim = Claim {
        limit: 1,
        lease: Duration::from_secs(60),
        attempts: 2,
        running: 0,
        events: Events::All,
        retries_first: false,
    };

    fn leased(row: &mut Row, now: SystemTime) -> Lease {
        match Claiming::new(CLAIM, now).decide(1, row) {
            Some(ClaimDecision::Leased { lease, .. }) => lease,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lost_lease_changes_nothing() {
        let mut row = Row::new(START);
        let lost = leased(&mut row, START);
        let now = START + CLAIM.lease;
        leased(&mut row, now);
        let before = row.clone();
        assert_eq!(row.settle(lost, &Outcome::Done, 1, now), Settled::LostLease);
        assert_eq!(row, before);
    }

    /// Otherwise an entry that was put off in the attempt after an interrupted last one would be dead without a cause.
    #[test]
    fn an_attempt_that_does_not_count_keeps_the_one_after_an_interrupted_last_one() {
        let (after, cause) = (Duration::ZERO, String::new());
        for outcome in
            [Outcome::Snoozed { after }, Outcome::Released, Outcome::Unhandled { seen: 0, cause }]
        {
            let mut row = Row { attempts: 2, interrupted: 1, ..Row::new(START) };
            let lease = leased(&mut row, START);
            assert_eq!(row.settle(lease, &outcome, 1, START), Settled::Settled);
            assert_eq!((row.state, row.attempts, row.interrupted), (State::Waiting, 2, 1));
            leased(&mut row, START);
        }
    }

    #[test]
    fn the_cause_of_a_failure_is_the_cause_of_death() {
        let mut row = Row::new(START);
        let lease = leased(&mut row, START);
        let retry = Outcome::Retry { after: Duration::ZERO, cause: "no network".into() };
        row.settle(lease, &retry, 1, START);
        leased(&mut row, START);
        leased(&mut row, START + CLAIM.lease);
        let discarded = Claiming::new(CLAIM, START + CLAIM.lease * 2).decide(1, &mut row);
        assert_eq!(discarded, Some(ClaimDecision::Discarded));
        assert_eq!(row.cause.as_deref(), Some("no network"));
    }

    #[test]
    fn a_body_before_and_after_a_rejection_leaves_the_same_row() {
        let reject = Outcome::Unhandled { seen: 1, cause: "not an article".into() };
        let body = |text: &[u8]| KnownBody {
            digest: Digest::of(text),
            source: Source::Webhook,
            has_intent: false,
            is_by_capability: false,
        };
        let (first, second) = (body(b"{}"), body(b"[]"));
        let mut before = Row::new(START);
        let mut after = before.clone();

        let lease = leased(&mut before, START);
        before.record(second, &[first], START);
        before.settle(lease, &reject, 2, START);

        let lease = leased(&mut after, START);
        after.settle(lease, &reject, 1, START);
        after.record(second, &[first], START);
        assert_eq!(before, after);
    }
}
