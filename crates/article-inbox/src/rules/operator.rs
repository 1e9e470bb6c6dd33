use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::State;

impl Row {
    /// Requeues a dead, unhandled or corrupt entry: it waits, due now, without attempts. Any other entry is not
    /// changed, and the result is `false`.
    pub fn requeue(&mut self, now: SystemTime) -> bool {
        let is_stuck = matches!(self.state, State::Dead | State::Unhandled | State::Corrupt);
        if is_stuck {
            (self.attempts, self.interrupted) = (0, 0);
            self.wait(Duration::ZERO, Cause::None, now);
        }
        is_stuck
    }

    /// Makes a waiting, unhandled or corrupt entry dead. Any other entry is not changed, and the result is `false`.
    pub fn bury(&mut self, cause: impl Into<String>, now: SystemTime) -> bool {
        let is_unfinished =
            matches!(self.state, State::Waiting | State::Unhandled | State::Corrupt);
        if is_unfinished {
            self.end(State::Dead, Cause::New(cause.into()), now);
        }
        is_unfinished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    #[test]
    fn every_state_can_be_requeued_or_buried_or_neither() {
        let expected = [
            (State::Waiting, (false, true)),
            (State::Leased, (false, false)),
            (State::Done, (false, false)),
            (State::Dead, (true, false)),
            (State::Unhandled, (true, true)),
            (State::Corrupt, (true, true)),
        ];
        for (state, expected) in expected {
            let row = Row { state, attempts: 2, ..Row::new(NOW) };
            let (mut requeued, mut buried) = (row.clone(), row.clone());
            assert_eq!((requeued.requeue(NOW), buried.bury("no", NOW)), expected, "{state}");
            assert_eq!((requeued != row, buried != row), expected, "{state}");
        }
    }
}
