use std::time::SystemTime;

use super::Row;
use crate::{State, entry::MAX_FAILURES_PER_ENTRY};

impl Row {
    /// The row of an entry that another store exported. A lease of that store is not valid here, so a leased entry
    /// waits, due now.
    #[must_use]
    pub fn imported(mut self, now: SystemTime) -> Self {
        if self.state == State::Leased {
            (self.state, self.at, self.since) = (State::Waiting, now, now);
        }
        self.failures.drain(..self.failures.len().saturating_sub(MAX_FAILURES_PER_ENTRY));
        Self { fence: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_lease_is_lost_on_the_way() {
        let (start, now) =
            (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(9));
        for state in State::ALL {
            let there = Row {
                state,
                attempts: 2,
                fence: 5,
                interrupted: 3,
                conflicts: 1,
                ..Row::new(start)
            };
            let expected = match state {
                State::Leased => {
                    Row { state: State::Waiting, at: now, since: now, fence: 0, ..there.clone() }
                }
                _ => Row { fence: 0, ..there.clone() },
            };
            assert_eq!(there.imported(now), expected, "{state}");
        }
    }
}
