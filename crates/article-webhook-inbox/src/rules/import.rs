use std::time::SystemTime;

use super::{Row, row::Cause};
use crate::State;

impl Row {
    /// The row of an entry that another store exported. A lease of that store is not valid here, so a leased entry
    /// waits, due now.
    #[must_use]
    pub fn imported(mut self, now: SystemTime) -> Self {
        if self.state == State::Leased {
            (self.state, self.at, self.since) = (State::Waiting, now, now);
        }
        Self { fence: 0, ..self }
    }

    /// The same entry is in another store, which received it before. What is done there is done here. What is dead there is
    /// dead here, if no more is known of it here than its arrival: a delivery that is repeated brings nothing back.
    pub fn merge(&mut self, there: &Self) {
        let is_known_there = match there.state {
            State::Done => self.state != State::Done,
            State::Dead => self.is_untouched(),
            _ => false,
        };
        if is_known_there {
            let (fence, conflicts) = (self.fence, self.conflicts.max(there.conflicts));
            *self = Self { fence, conflicts, ..there.clone() };
        }
    }

    /// The same article was in another store, and retention removed it there: it is done, unless more is known of it here than
    /// its arrival.
    pub fn merge_removed(&mut self, now: SystemTime) {
        if self.is_untouched() {
            self.end(State::Done, Cause::None, now);
        }
    }

    /// Whether nothing has happened to the entry but that it came.
    fn is_untouched(&self) -> bool {
        self.state == State::Waiting && self.failures.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    #[test]
    fn done_wins_and_dead_wins_over_a_mere_arrival() {
        let now = SystemTime::UNIX_EPOCH;
        let row = |state| Row { state, fence: 4, ..Row::new(now) };
        let arrived = row(State::Waiting);
        let failed = Row {
            failures: vec![Failure { at: now, attempt: 1, cause: "a".into() }],
            ..arrived.clone()
        };
        let merged = |here: &Row, there| {
            let mut merged = Row { conflicts: 2, ..here.clone() };
            merged.merge(&Row { fence: 0, conflicts: 1, ..row(there) });
            assert_eq!((merged.fence, merged.conflicts), (4, 2), "a lease ends as it would have");
            merged.state
        };
        for &here in State::ALL {
            assert_eq!(merged(&row(here), State::Done), State::Done, "{here}");
            for there in [State::Waiting, State::Leased, State::Unhandled, State::Corrupt] {
                assert_eq!(merged(&row(here), there), here, "{there}");
            }
            let expected = if here == State::Waiting { State::Dead } else { here };
            assert_eq!(merged(&row(here), State::Dead), expected, "{here}");
        }
        assert_eq!(merged(&failed, State::Dead), State::Waiting, "its handler has begun here");

        for (mut here, expected) in
            [(arrived, State::Done), (failed, State::Waiting), (row(State::Dead), State::Dead)]
        {
            here.merge_removed(now);
            assert_eq!(here.state, expected);
        }
    }
}
