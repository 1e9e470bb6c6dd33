use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::State;

/// The cause of an entry of which it is not known whether it was done.
const SALVAGED: &str = "salvaged: look whether it was published";

impl Row {
    /// Requeues an entry: it waits, due now, without attempts and without a cause. Its failures stay. `held` is how many
    /// of its bodies have bytes. A leased entry, and one that is done and has no bytes left, is not changed, and the
    /// result is `false`. The same holds for an entry that has left the state `from`, if one is named.
    pub fn requeue(
        &mut self,
        from: Option<State>,
        held: usize,
        requeued_at: SystemTime,
        now: SystemTime,
    ) -> bool {
        if from.is_some_and(|from| from != self.state) {
            return false;
        }
        let can_begin_again = match self.state {
            // What is in quarantine is no article: it is read again, and not handed out.
            State::Leased | State::Quarantined => false,
            State::Done => held > 0,
            State::Waiting | State::Dead | State::Unhandled | State::Corrupt => true,
        };
        if can_begin_again {
            (self.attempts, self.interrupted) = (0, 0);
            self.requeued_at = Some(requeued_at);
            self.wait(Duration::ZERO, Cause::None, now);
        }
        can_begin_again
    }

    /// Makes a waiting, unhandled or corrupt entry dead. Any other entry is not changed, and the result is `false`.
    pub fn discard(&mut self, cause: impl Into<String>, now: SystemTime) -> bool {
        let is_unfinished =
            matches!(self.state, State::Waiting | State::Unhandled | State::Corrupt);
        if is_unfinished {
            self.end(State::Dead, Cause::New(cause.into()), now);
        }
        is_unfinished
    }

    /// The row was salvaged, and may be older than what was known last: the entry is dead, for a person to look at and to
    /// requeue. An entry that is done or in quarantine is not changed, and the result is `false`.
    pub fn doubt(&mut self, now: SystemTime) -> bool {
        let can_be_doubtful = !matches!(self.state, State::Done | State::Quarantined);
        if can_be_doubtful {
            self.end(State::Dead, Cause::New(SALVAGED.to_owned()), now);
        }
        can_be_doubtful
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    #[test]
    fn only_a_done_entry_needs_bytes_to_begin_again() {
        for &state in State::ALL {
            let mut row = Row { state, ..Row::new(NOW) };
            let expected = !matches!(state, State::Leased | State::Done | State::Quarantined);
            assert_eq!(row.requeue(None, 0, NOW, NOW), expected, "{state}");
        }
    }
}
